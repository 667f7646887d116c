#!/usr/bin/python3
"""Checks the Flatpak manifest without a network: form, pins, options, permissions. Speaks TAP.

  test_flatpak.py MANIFEST SOURCE_ROOT"""
import json
import os
import re
import sys

MANIFEST, ROOT = sys.argv[1:3]
APP = "io.github.tarmac.Tarmac"
TOP = {"id", "runtime", "runtime-version", "sdk", "command", "finish-args", "cleanup", "modules"}
MODULE = {"name", "buildsystem", "builddir", "config-opts", "cleanup", "sources"}
PINS = {"archive": ("sha256", r"[0-9a-f]{64}"), "file": ("sha256", r"[0-9a-f]{64}"), "git": ("commit", r"[0-9a-f]{40}")}


def read():
    def no_twice(pairs):
        assert len({k for k, _ in pairs}) == len(pairs), f"a key stands twice among {[k for k, _ in pairs]}"
        return dict(pairs)

    with open(MANIFEST, encoding="utf-8") as f:
        return json.load(f, object_pairs_hook=no_twice)


def test_form(m):
    assert set(m) == TOP, f"keys: {sorted(set(m) ^ TOP)}"
    assert m["id"] == APP and os.path.basename(MANIFEST) == APP + ".json"
    assert m["runtime"] == "org.gnome.Platform" and m["sdk"] == "org.gnome.Sdk"
    assert re.fullmatch(r"\d+", m["runtime-version"]), "a released runtime, no branch in motion"
    names = [x["name"] for x in m["modules"]]
    assert len(set(names)) == len(names) and names[-1] == m["command"]
    for x in m["modules"]:
        assert set(x) <= MODULE, f"{x['name']}: {sorted(set(x) - MODULE)}"
        assert x["buildsystem"] in ("meson", "cmake-ninja", "simple", "autotools")


def test_pins(m):
    for x in m["modules"]:
        assert x["sources"], f"{x['name']} has no source"
        for s in x["sources"]:
            if s["type"] == "dir":
                assert x["name"] == m["command"], "only Tarmac itself is taken from a folder"
                path = os.path.normpath(os.path.join(os.path.dirname(MANIFEST), s["path"]))
                assert os.path.isfile(os.path.join(path, "meson.build")), path
                continue
            key, form = PINS[s["type"]]
            assert s["url"].startswith("https://"), s["url"]
            assert re.fullmatch(form, s.get(key, "")), f"{x['name']} is not pinned by its {key}"
            assert "branch" not in s


def test_options(m):
    with open(os.path.join(ROOT, "meson_options.txt"), encoding="utf-8") as f:
        known = set(re.findall(r"^option\('([^']+)'", f.read(), re.M))
    (own,) = (x for x in m["modules"] if x["name"] == m["command"])
    for option in own["config-opts"]:
        name, value = re.fullmatch(r"-D([^=]+)=(.+)", option).groups()
        assert name in known, f"there is no option {name}"
        assert value in ("enabled", "disabled")


def test_versions(m):
    """The library that the terminal's bootstrap takes and the one built here are the same."""
    with open(os.path.join(ROOT, "bootstrap"), encoding="utf-8") as f:
        said = re.search(r"# oneDNN (\d+\.\d+)", f.read())[1]
    (onednn,) = (x for x in m["modules"] if x["name"] == "onednn")
    assert f"/v{said}.tar.gz" in onednn["sources"][0]["url"], f"bootstrap takes oneDNN {said}"


def test_permissions(m):
    """Folders come through the portal and nothing is downloaded."""
    allowed = {"--share=ipc", "--socket=fallback-x11", "--socket=wayland", "--device=dri"}
    assert set(m["finish-args"]) <= allowed, sorted(set(m["finish-args"]) - allowed)


def main():
    m = read()
    tests = [test_form, test_pins, test_options, test_versions, test_permissions]
    print(f"1..{len(tests)}")
    bad = 0
    for i, test in enumerate(tests, 1):
        try:
            test(m)
            print(f"ok {i} - {test.__name__[5:]}")
        except AssertionError as e:
            bad += 1
            print(f"not ok {i} - {test.__name__[5:]}\n# {e}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
