@echo off
rem The saccade command on Windows, as ./saccade elsewhere. Builds Saccade first where that is needed.
setlocal EnableExtensions DisableDelayedExpansion
set "root=%~dp0"
set "root=%root:~0,-1%"
set "built=%root%\cli\target\saccade"
set "log=%root%\target\build.log"

call :check_class_path
if errorlevel 1 exit /b 2
where java >nul 2>nul
if errorlevel 1 (
  >&2 echo saccade: Java 17 or later is needed; install a JDK, and have its bin in PATH
  exit /b 3
)

rem Its exit code is 2 where a source is newer than what was built, and 1 more where a terminal shows stderr.
set "terminal=false"
if not exist "%built%\.complete" goto build
powershell -NoProfile -Command "$built = (Get-Item $env:built/.complete).LastWriteTimeUtc; $sources = (Resolve-Path $env:root/pom.xml,$env:root/*/pom.xml,$env:root/*/src/main).Path; $newer = Get-ChildItem -Recurse -File -LiteralPath $sources | Where-Object { $_.LastWriteTimeUtc -gt $built } | Select-Object -First 1; exit (2 * [int][bool]$newer + [int](-not [Console]::IsErrorRedirected))"
set "state=%errorlevel%"
if %state% equ 1 set "terminal=true"
if %state% equ 3 set "terminal=true"
if %state% equ 2 goto build
if %state% equ 3 goto build

:run
set "classes=%built%\lib\*"
if defined SACCADE_CLASS_PATH set "classes=%classes%;%SACCADE_CLASS_PATH%"

rem What is printed is UTF-8; the console is given back as it was.
for /f "tokens=2 delims=:." %%a in ('chcp') do set "page=%%a"
chcp 65001 >nul
java -Xshare:auto -XX:+UseParallelGC -Xmn128m -Djava.awt.headless=true -Dai.djl.offline=true ^
  -Dfile.encoding=UTF-8 -Dsun.stderr.encoding=UTF-8 -Dstderr.encoding=UTF-8 ^
  -Dsaccade.home="%root%" -Dsaccade.terminal=%terminal% ^
  %SACCADE_JAVA_OPTIONS% -cp "%classes%" dev.saccade.cli.Saccade %*
set "code=%errorlevel%"
if defined page chcp %page% >nul
exit /b %code%

:check_class_path
set "rest=%SACCADE_CLASS_PATH%"
:next_entry
if not defined rest exit /b 0
for /f "tokens=1* delims=;" %%a in ("%rest%") do (
  set "entry=%%a"
  set "rest=%%b"
)
set "place=%entry%"
if "%place:~-2%"=="\*" set "place=%place:~0,-2%"
if "%place:~-2%"=="/*" set "place=%place:~0,-2%"
if exist "%place%" goto next_entry
>&2 echo saccade: SACCADE_CLASS_PATH: "%entry%": there is no such folder or jar
exit /b 1

:build
where mvn >nul 2>nul
if errorlevel 1 (
  >&2 echo saccade: Maven 3.8 or later is needed to build; install it, and have its bin in PATH
  exit /b 3
)
if not exist "%root%\target" mkdir "%root%\target"
if exist "%built%\.complete" del "%built%\.complete"
>&2 echo Building Saccade; the first time this fetches about 420 MB of libraries.
pushd "%root%"
call mvn -B -pl cli -am -Dmaven.test.skip=true package >"%log%" 2>&1
set "failed=%errorlevel%"
popd
if "%failed%"=="0" (
  type nul >"%built%\.complete"
  goto run
)
>&2 findstr "ERROR BUILD" "%log%"
>&2 echo saccade: the build failed; all of its output is in "%log%"
exit /b 3
