#!/bin/sh
# Adds the program in this folder to the menu of one user, or with PREFIX=/usr/local of all users; --remove removes it.
#   ./install.sh            PREFIX=~/.local
#   ./install.sh --remove
set -eu
prefix=${PREFIX:-$HOME/.local}
here=$(cd "$(dirname "$0")" && pwd)
home=$prefix/lib/attnlab

announce() {
    update-desktop-database -q "$prefix/share/applications" 2>/dev/null || true
    update-mime-database "$prefix/share/mime" >/dev/null 2>&1 || true
    gtk-update-icon-cache -q -t -f "$prefix/share/icons/hicolor" 2>/dev/null || true
}

remove() {
    [ -d "$home/share" ] && (cd "$home/share" && find . -type f) | while read -r file; do rm -f "$prefix/share/$file"; done
    rm -rf "$home"
    rm -f "$prefix/bin/attnlab"
}

if [ "${1:-}" = --remove ]; then
    remove
    announce
    echo "attnlab was removed from $prefix. Your sessions and settings were kept."
    exit
fi

if [ "$here" = "$home" ]; then
    echo "This copy is already installed; nothing to do."
    exit
fi
remove
mkdir -p "$prefix/bin" "$prefix/lib" "$prefix/share"
cp -R "$here" "$home"
cp -R "$home/share/." "$prefix/share/"
sed -i "s|^Exec=attnlab|Exec=\"$prefix/bin/attnlab\"|" "$prefix/share/applications/attnlab.desktop"
ln -s "$home/attnlab" "$prefix/bin/attnlab"
announce
echo "attnlab is in the menu. In a terminal, run $prefix/bin/attnlab."
