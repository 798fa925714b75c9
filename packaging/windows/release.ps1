# UNTESTED: written from the tools' manuals, without a Windows machine. Freezes, tests, signs and packages the program.
#   packaging\windows\release.ps1 -Version 0.1.0 -Thumbprint <SHA-1 of the certificate>
param([Parameter(Mandatory)] [string] $Version, [string] $Thumbprint)
$ErrorActionPreference = "Stop"
$python = ".venv\Scripts\python.exe"
$bundle = "build\frozen\attnlab"

function Invoke-Checked { # PowerShell does not stop when a program fails
    & $args[0] $args[1..($args.Count - 1)]
    if ($LASTEXITCODE) { throw "$($args[0]) ended with $LASTEXITCODE" }
}

function Add-Signature([string] $File) {
    if ($Thumbprint) {
        Invoke-Checked signtool sign /sha1 $Thumbprint /fd SHA256 /tr http://timestamp.digicert.com /td SHA256 $File
    }
}

Invoke-Checked $python packaging\package.py build
Invoke-Checked $python packaging\smoke.py $bundle
Add-Signature "$bundle\attnlab.exe"
Invoke-Checked iscc "/DVersion=$Version" "/DBundle=..\..\$bundle" /Obuild packaging\windows\attnlab.iss
Add-Signature "build\attnlab-$Version-setup.exe"
