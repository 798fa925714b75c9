#!/bin/sh
# UNTRIED: written from the tools' manuals, as no Mac was at hand. Signs, packs and notarises what `make package` built.
#   IDENTITY="Developer ID Application: NAME (TEAM)" PROFILE=attnlab packaging/macos/release.sh build/frozen/attnlab.app
# PROFILE is what `xcrun notarytool store-credentials` was told to call the account.
set -eu
app=$1
here=$(cd "$(dirname "$0")" && pwd)
image=$(dirname "$app")/attnlab-$(uname -m).dmg

# From the inside out: every library first, the program last, or the outer seal is broken by the inner ones.
find "$app/Contents" -type f \( -name '*.dylib' -o -name '*.so' -o -name torch_shm_manager \) -exec \
    codesign --force --timestamp --options runtime --sign "$IDENTITY" {} +
codesign --force --timestamp --options runtime --entitlements "$here/entitlements.plist" --sign "$IDENTITY" "$app"
codesign --verify --deep --strict --verbose=2 "$app"

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
cp -R "$app" "$stage/"
ln -s /Applications "$stage/Applications"
hdiutil create -volname attnlab -srcfolder "$stage" -ov -format UDZO "$image"
codesign --force --timestamp --sign "$IDENTITY" "$image"

xcrun notarytool submit "$image" --keychain-profile "$PROFILE" --wait
xcrun stapler staple "$image"
spctl --assess --type open --context context:primary-signature --verbose=2 "$image"
echo "$image can be given away."
