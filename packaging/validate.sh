#!/bin/sh
# Lets Debian's own tools look at what a free desktop is told of attnlab; says which of them is missing.
set -u
cd "$(dirname "$0")/linux" || exit 1
faults=0

look() { # look PACKAGE COMMAND...
    package=$1
    shift
    if ! command -v "$1" >/dev/null 2>&1; then
        echo "$1 is missing: sudo apt-get install $package"
        faults=1
    elif said=$("$@" 2>&1) && ! echo "$said" | grep -qiE '^[^:]*: (error|warning)'; then
        echo "$1: no fault"
    else
        echo "$1 finds fault:"
        echo "$said"
        faults=1
    fi
}

mime=$(mktemp -d)
trap 'rm -rf "$mime"' EXIT
mkdir "$mime/packages"
cp attnlab-mime.xml "$mime/packages/attnlab.xml"

look desktop-file-utils desktop-file-validate --warn-kde attnlab.desktop
look appstream appstreamcli validate --pedantic --no-net org.attnlab.attnlab.metainfo.xml
look libxml2-utils xmllint --noout attnlab-mime.xml org.attnlab.attnlab.metainfo.xml hicolor/scalable/apps/attnlab.svg
look shared-mime-info update-mime-database "$mime"
if [ -f "$mime/packages/attnlab.xml" ] && [ ! -f "$mime/application/x-attnlab.xml" ]; then
    echo "update-mime-database did not take application/x-attnlab in."
    faults=1
fi
exit $faults
