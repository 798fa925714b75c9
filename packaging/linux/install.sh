#!/bin/sh
# Puts the program beside which it lies into the menu of one person, or with PREFIX=/usr/local of all; or takes it out.
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
    echo "attnlab is gone from $prefix; your sessions and settings are where they were."
    exit
fi

if [ "$here" = "$home" ]; then
    echo "This copy is the one that is installed; there is nothing to do."
    exit
fi
remove
mkdir -p "$prefix/bin" "$prefix/lib" "$prefix/share"
cp -R "$here" "$home"
cp -R "$home/share/." "$prefix/share/"
sed -i "s|^Exec=attnlab|Exec=\"$prefix/bin/attnlab\"|" "$prefix/share/applications/attnlab.desktop"
ln -s "$home/attnlab" "$prefix/bin/attnlab"
announce
echo "attnlab is in the menu; in a terminal it is $prefix/bin/attnlab."
