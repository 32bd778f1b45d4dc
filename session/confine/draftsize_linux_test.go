package confine

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

func fill(t *testing.T, path string, size int) {
	t.Helper()
	if err := os.WriteFile(path, []byte(strings.Repeat("x", size)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// FEATURES: R124
func TestDraftMeter_Measures(t *testing.T) {
	dir := t.TempDir()
	fd, err := unix.Open(dir, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	m := draftMeter{uppers: []int{fd}}
	if n := m.measure(); n != 0 {
		t.Fatalf("%d bytes in an empty directory", n)
	}
	sub := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	fill(t, filepath.Join(sub, "f"), 100_000)
	one := m.measure()
	if one < 100_000 || one > 200_000 {
		t.Errorf("%d bytes, want those of one file", one)
	}
	if err := os.Link(filepath.Join(sub, "f"), filepath.Join(dir, "g")); err != nil {
		t.Fatal(err)
	}
	if n := m.measure(); n != one {
		t.Errorf("%d bytes with a second name, want %d", n, one)
	}
	if err := os.Symlink("/", filepath.Join(dir, "root")); err != nil {
		t.Fatal(err)
	}
	if n := m.measure(); n > one+1<<14 {
		t.Errorf("%d bytes with a link, want %d", n, one)
	}
	if n, err := diskUsage(m.uppers[0], 2, map[uint64]bool{}, func(*unix.Stat_t) {}); err == nil {
		t.Errorf("%d bytes of directories nested too deep, want an error", n)
	}
}

// TestDraftMeter_EndsAtLimit checks that a draft that is over its limit at its start may shrink, and not grow.
//
// FEATURES: R124
func TestDraftMeter_EndsAtLimit(t *testing.T) {
	const mib = 1 << 20
	for name, c := range map[string]struct {
		sizes []int64 // as measured; only the last one is over the limit of 4 MiB
		over  bool
	}{
		"grows":                   {[]int64{0, mib, 4 * mib, 4*mib + 1}, true},
		"stays below":             {[]int64{0, 4 * mib, mib, 4 * mib}, false},
		"over from the start":     {[]int64{6 * mib, 6*mib + mib/2, 8 * mib}, true},
		"shrinks":                 {[]int64{8 * mib, 6 * mib, 5 * mib}, false},
		"shrinks and grows":       {[]int64{8 * mib, 6 * mib, 8 * mib}, true},
		"shrinks below the limit": {[]int64{8 * mib, mib, 3 * mib, 4*mib + 1}, true},
		"cannot be measured":      {[]int64{mib, math.MaxInt64}, true},
	} {
		m := draftMeter{limit: 4 * mib}
		for i, used := range c.sizes {
			if got, want := m.exceeds(used), c.over && i == len(c.sizes)-1; got != want {
				t.Errorf("%s: %d is over the limit: %v, want %v", name, i, got, want)
			}
		}
	}
}

// TestDraftSize_EndsPrograms checks that programs that write more than the limit are ended with a message, and a single
// file gets no larger. Their changes stay.
//
// FEATURES: R124
func TestDraftSize_EndsPrograms(t *testing.T) {
	tier.Full(t)
	for name, c := range map[string]struct {
		script string
		code   int // -1: ended by a signal
		want   string
	}{
		"many files": {"trap '' XFSZ; i=0; while :; do i=$((i+1)); head -c 100000 /dev/zero > f$i || exit 9; done", -1, "its limit (--draft-size) is 2.0 MiB; ending its programs"},
		"one file":   {"head -c 100000 /dev/zero > small; head -c 5000000 /dev/zero > big 2>/dev/null; wc -c < big; echo $? end", 0, "2097152\n0 end\n"},
		"it fails":   {"exec head -c 5000000 /dev/zero > big", -1, "longterm: draft: a file has reached the size of its limit (--draft-size), 2.0 MiB. The changes are kept."},
		"below":      {"head -c 1000000 /dev/zero > f; sleep 0.6; echo end", 0, "end\n"},
	} {
		t.Run(name, func(t *testing.T) {
			root, upper, work := draftDirs(t)
			code, out := runSized(t, root, c.script, 2<<20, Mount{Kind: MountDraft, Path: root, Upper: upper, Work: work})
			if code != c.code || !strings.Contains(out, c.want) {
				t.Errorf("%d %q, want %d %q", code, out, c.code, c.want)
			}
			if all, err := os.ReadDir(upper); err != nil || len(all) == 0 {
				t.Errorf("no changes are left (%v)", err)
			}
		})
	}
}
