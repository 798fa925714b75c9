#!/bin/sh
# Checks the desktop entry, AppStream page and MIME type with Debian's tools; names the tools that are missing.
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
        echo "$1: passed"
    else
        echo "$1: failed"
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
    echo "update-mime-database did not register application/x-attnlab."
    faults=1
fi
exit $faults
