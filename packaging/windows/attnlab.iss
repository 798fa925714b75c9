; UNTESTED: written from the Inno Setup 6 manual, without a Windows machine. Installer for the frozen program.
;   iscc /DVersion=0.1.0 /DBundle=..\..\build\frozen\attnlab packaging\windows\attnlab.iss
[Setup]
AppId={{EEC0CE8B-28B7-4273-A944-3C46B0E355B0}
AppName=attnlab
AppVersion={#Version}
AppPublisher=attnlab contributors
DefaultDirName={autopf}\attnlab
DefaultGroupName=attnlab
PrivilegesRequired=lowest
PrivilegesRequiredOverridesAllowed=dialog
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
ChangesAssociations=yes
Compression=lzma2
SolidCompression=yes
LicenseFile=..\..\LICENSE
SetupIconFile=..\icons\attnlab.ico
UninstallDisplayIcon={app}\attnlab.exe
OutputBaseFilename=attnlab-{#Version}-setup

[Files]
Source: "{#Bundle}\*"; DestDir: "{app}"; Flags: recursesubdirs ignoreversion

[Icons]
Name: "{group}\attnlab"; Filename: "{app}\attnlab.exe"

[Registry]
Root: HKA; Subkey: "Software\Classes\.attnlab"; ValueType: string; ValueData: "attnlab.session"; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\.attnlab"; ValueName: "Content Type"; ValueType: string; ValueData: "application/x-attnlab"; Flags: uninsdeletevalue
Root: HKA; Subkey: "Software\Classes\attnlab.session"; ValueType: string; ValueData: "attnlab session"; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\Classes\attnlab.session\DefaultIcon"; ValueType: string; ValueData: "{app}\attnlab.exe,0"
Root: HKA; Subkey: "Software\Classes\attnlab.session\shell\open\command"; ValueType: string; ValueData: """{app}\attnlab.exe"" ""%1"""
