@echo off
rem The saccade command on Windows, as ./saccade elsewhere. Builds Saccade first where that is needed.
setlocal EnableExtensions DisableDelayedExpansion
set "home=%~dp0"
set "home=%home:~0,-1%"
set "built=%home%\cli\target\saccade"
set "log=%home%\target\build.log"

call :check_class_path
if errorlevel 1 exit /b 2
where java >nul 2>nul
if errorlevel 1 (
  >&2 echo saccade: Java 17 or later is needed; install a JDK, and have its bin in PATH
  exit /b 3
)

rem Whether a source is newer than what was built, and whether somebody sees stderr.
set "newer="
set "terminal="
if exist "%built%\.complete" for /f "tokens=1,2" %%a in ('powershell -NoProfile -Command ^
  "$built = (Get-Item \"$env:built\.complete\").LastWriteTimeUtc;" ^
  "$sources = Get-ChildItem -Recurse -File \"$env:home\pom.xml\", \"$env:home\*\pom.xml\", \"$env:home\*\src\main\*\";" ^
  "\"$(@($sources | Where-Object { $_.LastWriteTimeUtc -gt $built }).Count) $(-not [Console]::IsErrorRedirected)\""') do (
  set "newer=%%a"
  set "terminal=%%b"
)
if not defined newer set "newer=0"
if not defined terminal set "terminal=false"
if not exist "%built%\.complete" set "newer=1"
if not "%newer%"=="0" call :build
if errorlevel 1 exit /b 3

set "classes=%built%\lib\*"
if defined SACCADE_CLASS_PATH set "classes=%classes%;%SACCADE_CLASS_PATH%"

rem What is printed is UTF-8; the console is given back as it was.
for /f "tokens=2 delims=:." %%a in ('chcp') do set "page=%%a"
chcp 65001 >nul
java -Xshare:auto -XX:+UseParallelGC -Xmn128m -Djava.awt.headless=true -Dai.djl.offline=true ^
  -Dfile.encoding=UTF-8 -Dsun.stderr.encoding=UTF-8 -Dstderr.encoding=UTF-8 ^
  -Dsaccade.home="%home%" -Dsaccade.terminal=%terminal% ^
  %SACCADE_JAVA_OPTIONS% -cp "%classes%" dev.saccade.cli.Saccade %*
set "code=%errorlevel%"
if defined page chcp %page% >nul
exit /b %code%

:check_class_path
setlocal EnableDelayedExpansion
set "rest=!SACCADE_CLASS_PATH!"
:next_entry
if not defined rest exit /b 0
for /f "tokens=1* delims=;" %%a in ("!rest!") do (
  set "entry=%%a"
  set "rest=%%b"
)
set "place=!entry!"
if "!place:~-2!"=="\*" set "place=!place:~0,-2!"
if "!place:~-2!"=="/*" set "place=!place:~0,-2!"
if exist "!place!" goto next_entry
>&2 echo saccade: SACCADE_CLASS_PATH: !entry!: there is no such folder or jar
exit /b 1

:build
where mvn >nul 2>nul
if errorlevel 1 (
  >&2 echo saccade: Maven 3.8 or later is needed to build; install it, and have its bin in PATH
  exit /b 1
)
if not exist "%home%\target" mkdir "%home%\target"
if exist "%built%\.complete" del "%built%\.complete"
>&2 echo Building Saccade; the first time this fetches about 400 MB of libraries.
pushd "%home%"
call mvn -B -pl cli -am -Dmaven.test.skip=true package >"%log%" 2>&1
set "failed=%errorlevel%"
popd
if not "%failed%"=="0" (
  >&2 findstr "ERROR BUILD" "%log%"
  >&2 echo saccade: the build failed; all of its output is in %log%
  exit /b 1
)
type nul >"%built%\.complete"
exit /b 0
