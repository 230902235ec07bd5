"""From a faulty program to its repairs, and to the scores of tools that look for the fault.

Editors that know `# %%` show this file as a notebook; `python repair_network.py` runs it as a whole. It writes
D7.h5 into the current folder. Started again, it finds the finished search there.
"""

# %% The faults, and one of them
import networkx as nx
from suspicious_rate import suspicious_rate

import neutra

print(neutra.faults())

program = neutra.show("D7")
print(program["title"], "|", program["faults"], "|", program["parameters"])

# %% How well it trains, and the version that is known to be right
for version in ("buggy", "fixed"):
    replicas = neutra.train("D7", version=version, replicas=5)
    print(version, replicas.attrs["metric"], replicas["metric"].round(3).tolist())


# %% Search its repairs; the same call goes on where an earlier one ended
def show(status: neutra.Status) -> None:
    print(f"{status.state}: {status.evaluations} evaluations, {status.repairs} repairs")


run = neutra.search("D7", store="D7.h5", budget_evaluations=150, progress=show, interval=1)

# %% The repairs, the best first
print(run.info["end"], "| a repair reaches", run.info["metric"], run.info["ground_truth"])
print(run.repairs.head(10))

# %% Which changes make repairs? All programs that were tried, by what was changed last
nodes = run.nodes.query("depth > 0")
print(
    nodes.groupby("key")
    .agg(tried=("mean", "size"), neutral=("neutral", "sum"), repairs=("alternative", "sum"))
    .sort_values("repairs", ascending=False)
)

# %% The network, and the shortest way to the best repair
graph = run.graph
print(graph, "| longest way:", nx.dag_longest_path_length(graph))
best = run.repairs.index[0]
way = nx.shortest_path(graph, 0, best)
for step in nx.utils.pairwise(way):
    change = graph.edges[step]
    print(f"  {change['key']}: {change['before']} -> {change['after']}")

# %% Ask tools where the fault is: bundled ones, and a Python function
said = neutra.localise("D7", tool=["umlaut", "neuralint", suspicious_rate], runs=3)
print(said.tools)

# %% What is an answer worth: against the known fix alone, and against all repairs?
tables = neutra.score(said.answers, network=run.store)
print(tables["scores"])
