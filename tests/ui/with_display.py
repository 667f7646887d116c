#!/usr/bin/python3
"""Runs a command with a display, a session bus and settings of its own: with_display.py [--bus] COMMAND...

The X server picks a free number itself, so any number may run side by side. Everything the program writes goes to a folder that is
removed afterwards. Exits with the command's status; 77 (skipped) when there is no Xvfb."""
import os
import shutil
import subprocess
import sys
import tempfile


def main():
    args = sys.argv[1:]
    bus = args[:1] == ["--bus"]
    if bus:
        args = args[1:]
    if not shutil.which("Xvfb") or (bus and not shutil.which("dbus-run-session")):
        print("1..0 # SKIP Xvfb or dbus-run-session is not installed")
        return 77
    home = tempfile.mkdtemp(prefix="tarmac-ui-")
    read, write = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "1440x900x24", "-nolisten", "tcp", "-noreset"],
                              pass_fds=[write], stderr=subprocess.DEVNULL)
    os.close(write)
    try:
        number = os.read(read, 16).decode().strip()
        if not number:
            print("1..0 # SKIP Xvfb does not start here")
            return 77
        env = dict(os.environ, DISPLAY=":" + number, HOME=home, GSETTINGS_BACKEND="keyfile", LC_ALL="C.UTF-8", GDK_BACKEND="x11",
                   GTK_A11Y="atspi" if bus else "test", NO_AT_BRIDGE="0")
        env.pop("WAYLAND_DISPLAY", None)
        for name in ("CONFIG", "DATA", "CACHE", "STATE", "RUNTIME"):
            folder = os.path.join(home, name.lower())
            os.makedirs(folder, mode=0o700)
            env["XDG_RUNTIME_DIR" if name == "RUNTIME" else f"XDG_{name}_HOME"] = folder
        settings = os.path.join(home, "config", "gtk-4.0")
        os.makedirs(settings)
        with open(os.path.join(settings, "settings.ini"), "w") as f:
            f.write("[Settings]\ngtk-font-name=Cantarell 11\ngtk-enable-animations=0\n")
        if not bus:
            return subprocess.run(args, env=env).returncode
        run = subprocess.Popen(["dbus-run-session", "--"] + args, env=env, stdout=subprocess.PIPE, text=True)
        for line in run.stdout:  # the accessibility bus writes among the test's lines
            print("# " + line if line.startswith("SpiRegistry") else line, end="", flush=True)
        return run.wait()
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
