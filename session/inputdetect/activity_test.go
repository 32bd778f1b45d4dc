package inputdetect

import (
	"fmt"
	"strings"
	"testing"
)

// FEATURES: R42
func TestActivityFilter_Change(t *testing.T) {
	for _, c := range []struct {
		before, after string
		content       bool
	}{
		// Rows that change by themselves.
		{"⠋ Installing dependencies", "⠙ Installing dependencies", false},
		{"| working", "/ working", false},
		{"working -", `working \`, false},
		{"working.", "working...", false},
		{"Downloading  12%", "Downloading 100%", false},
		{"[==>       ] 20%", "[====>     ] 40%", false},
		{"████▌      45%", "█████▌     55%", false},
		{"model.bin  45%  123MB  10.1MB/s  00:12 ETA", "model.bin  46%  130MB   9.8MB/s  00:11 ETA", false},
		{"12:59:59", "13:00:00", false},
		{"elapsed 59s", "elapsed 1m00s", false},
		{"elapsed: 9 seconds", "elapsed: 10 seconds", false},
		{"  3/120 files", "101/120 files", false},
		{"100%|██████| 10/10 [00:01<00:00,  9.9it/s]", " 10%|█     |  1/10 [00:00<00:09,  1.0it/s]", false},
		{"frame=  10 fps=0.0 size=   0kB", "frame= 123 fps= 30 size=1024kB", false},
		{"Sat 12:00", "Sun 00:01", false},
		{"Tasks: 97 total, 1 running", "Tasks: 101 total, 2 running", false},
		{"load 0.10 0.20", "load 1.10 0.90", false},

		// Content.
		{"", "hello", true},
		{"", "42", true},
		{"", "⠋ Installing", true},
		{"hello", "", true},
		{"Downloading 99%", "Downloading 100% done", true},
		{"⠋ Installing dependencies", "✔ Installed dependencies", true},
		{"⠋ Installing dependencies", "Continue? [y/N] ", true},
		{"hello", "hello world", true},
		{"user@host:~$ ", "user@host:~$ ls", true},
		{"error in a.c", "error in b.c", true},
		{"version v1", "version beta", true},
	} {
		var filter ActivityFilter
		if got := filter.Change(3, c.before, c.after); got != c.content {
			t.Errorf("%q → %q: got content %v; %q, %q", c.before, c.after, got, stableText(c.before), stableText(c.after))
		}
	}
}

// TestActivityFilter_LearnsMovingRows checks that a display whose words change is content at first and movement after a
// while. What follows on the same row is content again.
// FEATURES: R42
func TestActivityFilter_LearnsMovingRows(t *testing.T) {
	var filter ActivityFilter
	line := "⠋ Fetching start"
	changes := []bool{}
	for _, name := range strings.Fields("lib core serde tokio libc rand syn quote regex log") {
		next := "⠋ Fetching " + name
		changes = append(changes, filter.Change(0, line, next))
		line = next
	}
	want := []bool{true, true, true, true, true, false, false, false, false, false}
	if fmt.Sprint(changes) != fmt.Sprint(want) {
		t.Errorf("got changes %v, want %v", changes, want)
	}
	if filter.Change(1, "⠋ Fetching a", "⠋ Fetching b") == false {
		t.Error("another row counts as moving")
	}
	if !filter.Change(0, line, "Password: ") {
		t.Error("a question on the row of a spinner is no content")
	}
	filter.Reset()
	if !filter.Change(0, "⠋ Fetching a", "⠋ Fetching b") {
		t.Error("Reset kept the moving rows")
	}
}

// TestActivityFilter_IgnoresRedraws checks that a line that is erased and drawn again is not new content.
// FEATURES: R42
func TestActivityFilter_IgnoresRedraws(t *testing.T) {
	var filter ActivityFilter
	if !filter.Change(5, "", "⠋ Building") {
		t.Error("the first text is no content")
	}
	for _, s := range []string{"⠙ Building", "⠹ Building"} {
		if filter.Change(5, "⠋ Building", "") || filter.Change(5, "", s) {
			t.Errorf("redrawn %q is content", s)
		}
	}
	if !filter.Change(5, "", "Built") {
		t.Error("another text is no content")
	}
	if filter.Change(5, "", "") {
		t.Error("an empty row is no content")
	}
	filter.Scroll(2)
	if filter.Change(3, "⠹ Built", "") {
		t.Error("a removed spinner is content")
	}
	filter.Scroll(100)
	filter.Scroll(-1)
}

func FuzzActivityFilter(f *testing.F) {
	f.Add("⠋ Installing 1%", "⠙ Installing 2%", 3)
	f.Add("9/10 [00:01<00:00, 9.9it/s]", "\xff\xf0", 0)
	f.Fuzz(func(t *testing.T, before, after string, n int) {
		var filter ActivityFilter
		if filter.Change(0, before, before) && strings.TrimSpace(before) != "" {
			t.Errorf("%q compared with itself is content", before)
		}
		filter.Change(n, before, after)
		filter.Scroll(n)
		filter.Change(n, after, before)
	})
}

func BenchmarkActivityFilter(b *testing.B) {
	var filter ActivityFilter
	b.ReportAllocs()
	for b.Loop() {
		filter.Change(0, "model.bin  45%  123MB  10.1MB/s  00:12 ETA", "model.bin  46%  130MB   9.8MB/s  00:11 ETA")
	}
}
