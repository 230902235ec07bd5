// Which page it is, and its colours.

function chooseTheme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  localStorage.setItem("neutra-theme", theme);
  for (const frame of document.querySelectorAll("iframe.report[src]")) showFrame(frame, frame.dataset.shown);
}

const theme = localStorage.getItem("neutra-theme");
for (const radio of document.querySelectorAll('input[name="theme"]')) {
  radio.checked = radio.value === (["light", "dark"].includes(theme) ? theme : "auto");
  if (radio.checked) chooseTheme(radio.value);
  radio.addEventListener("change", () => chooseTheme(radio.value));
}

const PAGES = {search: showSearch, benchmark: showBenchmark, entry: showEntry};
Promise.resolve((PAGES[location.pathname.split("/").pop()] ?? showFolder)()).catch(error => tellProblem(error.message));
