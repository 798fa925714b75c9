#!/bin/sh
# UNTESTED: written from the tools' manuals, without a Mac. Signs, packages and notarises the result of `make package`.
#   IDENTITY="Developer ID Application: NAME (TEAM)" PROFILE=attnlab packaging/macos/release.sh build/frozen/attnlab.app
# PROFILE is the profile name given to `xcrun notarytool store-credentials`.
set -eu
app=$1
here=$(cd "$(dirname "$0")" && pwd)
image=$(dirname "$app")/attnlab-$(uname -m).dmg

# Sign the libraries first and the program last: signing a library later would break the program's signature.
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
echo "$image is ready to publish."
