#!/usr/bin/env bash
# accept.sh: what Tarmac does on this machine's GPU, check by check, each with a line that says pass, fall short, fail or skip, and why. Lines come as
# the checks end, so that a time-out leaves those that were done.
#
#   tests/gpu/accept.sh              builds the engine and the module without the window in build-accept, then checks
#   tests/gpu/accept.sh BUILD        takes a build that is there
#   tests/gpu/accept.sh --fake BUILD the same from start to end on the stand-ins of tests/cuda-host, which need no GPU; says nothing about speed
#
# Needs, to build: what ./bootstrap installs to build, nvcc, the static CUDA runtime, cuDNN 9 with its headers; libepoxy for the pictures. To run: cuDNN 9
# where the loader finds it. PyTorch (python3 with torch, numpy, pillow; PYTHON names another), compute-sanitizer, and the folder with the
# peer and CamVid beside this one (TM_SHARED) are used where they are. LIMIT is the seconds it may take in all: 460 unless said.
# Exit status: 0 nothing failed, 1 something did, 77 there is no GPU to be used.
set -u
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." || exit 1

FAKE=0
if [[ ${1:-} == --fake ]]; then FAKE=1; shift; fi
BUILD=${1:-}
PYTHON=${PYTHON:-python3}
SHARED=${TM_SHARED:-$PWD/../shared}
LIMIT=${LIMIT:-460}
TMP=$(mktemp -d) || exit 1
trap 'rm -rf -- "$TMP"' EXIT
export XDG_CACHE_HOME="$TMP/cache" XDG_DATA_HOME="$TMP/data" LC_ALL=C.UTF-8
FAILED=0

# line RESULT CHECK WORDS...
line() {
  [[ $1 == FAIL ]] && FAILED=1
  printf '%-10s %-12s %s\n' "$1" "$2" "${*:3}"
}

left() { echo $((LIMIT - SECONDS)); }

# limited SECONDS COMMAND...: for at most so long, and not beyond the end of all.
limited() {
  local most=$1 have
  have=$(left)
  shift
  ((most > have)) && most=$have
  ((most < 1)) && return 124
  timeout "$most" "$@"
}

# last_of FILE: its last line that says anything.
last_of() { grep -v '^[[:space:]]*$' -- "$1" | tail -n 1; }

# number FILE KEY: of a line of JSON.
number() { "$PYTHON" -c 'import json,sys
for line in open(sys.argv[1]):
    if line.startswith("{"):
        value = json.loads(line).get(sys.argv[2])
        if value is not None: print(value)' "$1" "$2" 2>/dev/null | tail -n 1; }

# ratio A B, and ratio A B MOST: does A reach MOST times B?
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.2f", a / b; else print "?" }'; }
reaches() { awk -v a="$1" -v b="$2" -v m="$3" 'BEGIN { exit !(a >= m * b) }'; }

build() {
  BUILD=build-accept
  local log=$TMP/build
  if ! { [[ -d $BUILD ]] || meson setup "$BUILD" --buildtype=release -Dstudio=disabled -Dcuda=enabled; } >"$log" 2>&1 ||
    ! ninja -C "$BUILD" app/tarmac app/tarmac-cuda.so tests/gpu/test_device_ops >>"$log" 2>&1; then
    line FAIL build "$(last_of "$log")"
    exit 1
  fi
  ninja -C "$BUILD" tests/gpu/interop >>"$log" 2>&1 # without libepoxy there is none
  line PASS build "in $SECONDS s"
}

# Is there a GPU that can be used? Else every check says so.
gpu() {
  local log=$TMP/doctor
  limited 60 "$TARMAC" doctor >"$log" 2>&1
  WHY=$(sed -n 's/^  cuda *not usable *//p' "$log")
  if grep -q '^  cuda *usable' "$log"; then
    line PASS gpu "$(sed -n 's/^  cuda *usable *//p' "$log")"
    return 0
  fi
  line SKIP gpu "there is no GPU to be used: ${WHY:-tarmac doctor says nothing of it}"
  local check
  for check in interop ops training step elementwise sanitizer camvid; do line SKIP "$check" "no GPU"; done
  exit 77
}

interop() {
  local log=$TMP/interop
  if [[ ! -x $BUILD/tests/gpu/interop ]]; then
    line SKIP interop "built without libepoxy"
    return
  fi
  limited 60 "$BUILD/tests/gpu/interop" >"$log" 2>&1
  case $? in
  0) if grep -q 'not offered' "$log"; then line 'FALL SHORT' interop "$(last_of "$log")"; else line PASS interop "$(last_of "$log")"; fi ;;
  77) line SKIP interop "$(last_of "$log")" ;;
  *) line FAIL interop "$(last_of "$log")" ;;
  esac
}

ops() {
  local log=$TMP/ops good bad
  limited 120 "$BUILD/tests/gpu/test_device_ops" >"$log" 2>&1 -k
  local rc=$?
  good=$(grep -c '^ok' "$log")
  bad=$(grep '^not ok' "$log" | head -n 3 | sed 's/^not ok [0-9]* //' | paste -sd' ' -)
  if ((rc == 124)); then
    line FAIL ops "did not end in time; $good cases were good"
  elif ((rc != 0)) || ((good == 0)); then
    line FAIL ops "${bad:-$(last_of "$log")} ($good cases are good)"
  else
    line PASS ops "$good cases as on ref"
  fi
}

training() {
  local log=$TMP/training out=$TMP/runs miou size=160x120
  ((FAKE)) && size=32x32
  if limited 120 "$TARMAC" train demo --demo-size "$size" --demo-train 24 --demo-val 4 --epochs 1 --batch 4 --base 8 --backend cuda \
    --out "$out" --json >"$log" 2>"$log.said"; then
    miou=$(number "$log" loss)
    line PASS training "an epoch on the demo roads, loss ${miou:-?}, in $(number "$log" seconds) s"
  else
    line FAIL training "$(last_of "$log.said")"
  fi
}

# step BATCH LEAST: ours beside PyTorch's eager step, which ours is to be LEAST times as fast as.
step() {
  local batch=$1 least=$2 ours theirs log=$TMP/step-$1 args=(--base 64 --size 480x368)
  ((FAKE)) && args=(--base 1 --depth 2 --size 32x32 --steps 1)
  if ! limited 90 "$TARMAC" bench step --backend cuda --precision bf16 --batch "$batch" "${args[@]}" --json >"$log" 2>"$log.said"; then
    line FAIL "step $batch" "$(last_of "$log.said")"
    return
  fi
  ours=$(number "$log" seconds)
  if ((FAKE)); then
    line PASS "step $batch" "it runs"
  elif ! "$PYTHON" -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
    line SKIP "step $batch" "$ours s a step; no PyTorch with CUDA to stand beside it (PYTHON names another python3)"
  elif [[ ! -f $SHARED/peer/pytorch_unet.py ]]; then
    line SKIP "step $batch" "$ours s a step; there is no $SHARED/peer/pytorch_unet.py (TM_SHARED names another folder)"
  elif ! limited 90 "$PYTHON" "$SHARED/peer/pytorch_unet.py" step --device cuda --mode bf16 --base 64 --batch "$batch" --size 480x368 \
    >"$log.peer" 2>"$log.peer.said"; then
    line SKIP "step $batch" "$ours s a step; PyTorch: $(last_of "$log.peer.said")"
  else
    theirs=$(number "$log.peer" seconds)
    if reaches "$theirs" "$ours" "$least"; then result=PASS; else result='FALL SHORT'; fi
    line "$result" "step $batch" "$ours s, PyTorch bf16 eager $theirs s: $(ratio "$theirs" "$ours") times as fast, $least is asked for"
  fi
}

elementwise() {
  local log=$TMP/elementwise args=(--base 64 --batch 8 --size 480x368)
  ((FAKE)) && args=(--base 1 --depth 2 --size 32x32 --steps 1)
  if limited 60 "$TARMAC" bench kernels --backend cuda --precision bf16 "${args[@]}" >"$log" 2>&1; then
    line PASS elementwise "$(last_of "$log")"
  else
    line SKIP elementwise "$(last_of "$log")"
  fi
}

sanitizer() {
  local tool log=$TMP/sanitizer
  if ! command -v compute-sanitizer >/dev/null; then
    line SKIP sanitizer "there is no compute-sanitizer"
    return
  fi
  for tool in memcheck racecheck; do
    if ! limited 60 compute-sanitizer --tool "$tool" --error-exitcode 9 "$BUILD/tests/gpu/test_device_ops" -p /device/f32 >"$log" 2>&1; then
      line FAIL sanitizer "$tool: $(last_of "$log")"
      return
    fi
  done
  line PASS sanitizer "memcheck and racecheck find nothing in the ops"
}

camvid() {
  local log=$TMP/camvid
  if ((FAKE)); then
    line SKIP camvid "on the stand-ins it would take days"
  elif [[ ! -d $SHARED/data/camvid ]]; then
    line SKIP camvid "there is no $SHARED/data/camvid (TM_SHARED names another folder)"
  elif (($(left) < 60)); then
    line SKIP camvid "no time is left"
  elif limited "$(left)" "$TARMAC" train "$SHARED/data/camvid" --preset camvid --backend cuda --epochs 12 --out "$TMP/runs" --json >"$log" 2>"$log.said"; then
    line PASS camvid "mean IoU $(number "$log" miou) after 12 epochs, $(number "$log" seconds) s of training"
  else
    line FAIL camvid "$(last_of "$log.said")"
  fi
}

[[ -n $BUILD ]] || build
TARMAC=$BUILD/app/tarmac
if [[ ! -x $TARMAC ]]; then
  line FAIL build "$TARMAC is not there"
  exit 1
fi
if ((FAKE)); then TARMAC_MODULES=$(realpath "$BUILD/tests/cuda-host"); else TARMAC_MODULES=$(realpath "$BUILD/app"); fi
export TARMAC_MODULES
gpu
interop
ops
training
step 16 1.4
step 1 2.5
elementwise
sanitizer
camvid
exit "$FAILED"
