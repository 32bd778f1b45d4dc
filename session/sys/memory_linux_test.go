package sys

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// residentOwnKiB returns the resident read-only size of the program's own file, in KiB.
func residentOwnKiB(t *testing.T) (kib int) {
	t.Helper()
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	rss := regexp.MustCompile(`^Rss: +(\d+) kB$`)
	of := false
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		if m := rss.FindStringSubmatch(line); m != nil && of {
			n, _ := strconv.Atoi(m[1])
			kib += n
		} else if strings.Contains(line, "-") && !strings.Contains(line, ": ") {
			_, _, of = parseReadOnlyMapping(exe, line)
		}
	}
	return kib
}

// TestReleaseOwnPages checks that released pages of the program's own file are not resident, except those still in use.
func TestReleaseOwnPages(t *testing.T) {
	if b, err := os.ReadFile("/proc/self/exe"); err != nil || len(b) == 0 { // loads the file into the page cache
		t.Fatal(err)
	}
	residentOwnKiB(t) // maps the pages of the measurement itself
	before := residentOwnKiB(t)
	ReleaseOwnPages()
	if after := residentOwnKiB(t); after == 0 || after >= before {
		t.Errorf("got %d KiB before and %d after", before, after)
	}
}

func TestParseReadOnlyMapping(t *testing.T) {
	for line, want := range map[string]bool{
		"00400000-01000000 r-xp 00000000 fe:00 123                                /a/longterm":           true,
		"01000000-01800000 r--p 00c00000 fe:00 123                                /a/longterm":           true,
		"01800000-01900000 rw-p 01400000 fe:00 123                                /a/longterm":           false,
		"01800000-01900000 r--p 01400000 fe:00 123                                /a/another longterm":   false,
		"00400000-01000000 r-xp 00000000 fe:00 123                                /a/longterm (deleted)": false,
		"00400000-01000000 r--s 00000000 fe:00 123                                /a/longterm":           false,
		"7f0000000000-7f0000001000 ---p 00000000 00:00 0":                                                false,
		"01000000-00400000 r-xp 00000000 fe:00 123                                /a/longterm":           false,
		"x-y r-xp 00000000 fe:00 123                                              /a/longterm":           false,
		"": false,
	} {
		if _, _, ok := parseReadOnlyMapping("/a/longterm", line); ok != want {
			t.Errorf("%s: %v", line, ok)
		}
	}
}
