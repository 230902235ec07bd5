# Sourced by checks that install neutra where nothing is: a minimal Debian 12 in a folder, made by debootstrap as root. It shares
# kernel and network with this machine and stands for a fresh one, or for a container. NEUTRA_BARE_ROOT names one that is ready
# and is copied.

# Mounts are those of this process alone and end with it.
if [[ -z ${NEUTRA_OWN_MOUNTS:-} ]]; then
  (( $(id -u) == 0 )) || die "a bare root is made by root only"
  script=$PWD/scripts/$(basename "$0")
  cd "$called_in"
  NEUTRA_OWN_MOUNTS=1 exec unshare --mount --propagation private "$script" "$@"
fi

# make_bare_root FOLDER: with the package lists of this machine's Debian mirror.
make_bare_root() {
  local root=$1
  if [[ -n ${NEUTRA_BARE_ROOT:-} ]]; then
    cp -a --reflink=auto "$NEUTRA_BARE_ROOT" "$root"
  else
    command -v debootstrap >/dev/null || die "no debootstrap here: apt-get install debootstrap"
    debootstrap --variant=minbase bookworm "$root" >"$root.log" || die "debootstrap: $(tail -n 3 "$root.log")"
  fi
  cp -L /etc/resolv.conf "$root/etc/resolv.conf"
  mount --bind /proc "$root/proc"
  mount --rbind /dev "$root/dev"
  mount --rbind /sys "$root/sys"
  in_root "$root" apt-get update -qq
}

# in_root FOLDER COMMAND...: with nothing of this environment, nor of its input.
in_root() {
  chroot "$1" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive "${@:2}" </dev/null
}

# as_user FOLDER COMMAND...: likewise as an ordinary user, in the home folder.
as_user() {
  in_root "$1" id user >/dev/null 2>&1 || in_root "$1" useradd --create-home --shell /bin/bash user
  in_root "$1" setpriv --reuid user --regid user --init-groups \
    env HOME=/home/user PATH=/usr/local/bin:/usr/bin:/bin bash -c 'cd && exec "$@"' bash "${@:2}"
}

# remove_bare_root FOLDER
remove_bare_root() {
  umount --lazy --recursive "$1/proc" "$1/dev" "$1/sys" 2>/dev/null
  rm -rf --one-file-system "$1" "$1.log"
}
