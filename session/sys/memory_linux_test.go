package sys

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// residentOwn is how much of the program's own file is mapped read-only and in use, KiB.
func residentOwn(t *testing.T) (kib int) {
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
			_, _, of = readOnlyOf(exe, line)
		}
	}
	return kib
}

// The pages of a program's own file are not in use once they were left, but for those that go on being used.
func TestLeaveOwnPages(t *testing.T) {
	if b, err := os.ReadFile("/proc/self/exe"); err != nil || len(b) == 0 { // the page cache has them: they can be mapped around what is used
		t.Fatal(err)
	}
	residentOwn(t) // what looking itself uses
	before := residentOwn(t)
	LeaveOwnPages()
	if after := residentOwn(t); after == 0 || after >= before {
		t.Errorf("%d KiB before, %d after", before, after)
	}
}

func TestReadOnlyOf(t *testing.T) {
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
		if _, _, ok := readOnlyOf("/a/longterm", line); ok != want {
			t.Errorf("%s: %v", line, ok)
		}
	}
}
