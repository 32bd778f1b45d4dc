package policy

import (
	"runtime"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// work returns how many bytes judging a line allocates: long work allocates much, and this does not depend on the
// machine.
func work(e *Engine, l Line) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	e.Judge(l)
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc - before.TotalAlloc)
}

// FEATURES: R62
func TestLongLinesTakeLinearWork(t *testing.T) {
	tier.Full(t)
	e := engineFor(t, "build")
	for _, row := range []struct{ shell, unit string }{
		{"fish", "'"}, {"fish", "''"}, {"fish", `"'`}, {"fish", `\'`}, {"fish", `'\'\'\'\'\''`}, {"fish", "(a "}, {"fish", "a(b)"}, {"fish", "cd a;"}, {"fish", "begin;"},
		{"", "'"}, {"", "''"}, {"", "$("}, {"", "`"}, {"", "<<A\n"}, {"", "case "}, {"", "$((1+"}, {"", "<("}, {"", "cd a;"}, {"", "cd ..;"}, {"", "-f"}, {"", "x=$x$x;"}, {"", "a=b "}, {"", "env a=b "}, {"", "sudo "}, {"", "eval "}, {"", "ssh a "},
		{"zsh", "''"}, {"zsh", "cd a;"}, {"zsh", "*(.)"}, {"mksh", "''"}, {"mksh", "cd a;"}, {"powershell", "'"}, {"powershell", "sudo "}, {"powershell", "@{"}, {"cmd", "^"},
	} {
		sizes := []int{16 << 10, 64 << 10}
		if row.shell != "powershell" && row.shell != "cmd" {
			sizes = append(sizes, 1<<20)
		}
		most := 0.0
		for _, size := range sizes {
			text := "echo " + strings.Repeat(row.unit, (size-5)/len(row.unit))
			if strings.HasSuffix(row.unit, "=b ") {
				text = text[5:] + "x"
			}
			did := work(e, Line{Text: text, Shell: row.shell, Cwd: "/home/me/project", Home: "/home/me"}) / float64(size)
			limit := maxWork
			if row.shell == "fish" && strings.HasPrefix(row.unit, "'") { // they are parsed once, and are not a part of a word each
				limit = maxWorkOfQuotes
			}
			if strings.HasPrefix(row.unit, "cd ") { // each keeps its target, which is as long as paths may be
				limit = maxWorkOfPaths
			}
			if most = max(most, did); did > moreWork*limit {
				t.Errorf("%s: %q to %d bytes: %.0f bytes of memory for each", row.shell, row.unit, size, did)
			}
		}
		t.Logf("%-10s %-8q %4.0f bytes for each byte", row.shell, row.unit, most)
	}
}

// TestManyStatements_TakeLinearWork judges many statements, in text that is short enough to be parsed as a whole and in text that
// is parsed statement by statement.
//
// FEATURES: R62
func TestManyStatements_TakeLinearWork(t *testing.T) {
	e := engineFor(t, "hard")
	for _, size := range []int{50_000, 100_000} {
		l := Line{Text: strings.Repeat("a\r\n", size/3), Cwd: "/home/me/project", Home: "/home/me"}
		if did := work(e, l) / float64(size); did > moreWork*maxWorkOfPaths { // each is recorded
			t.Errorf("%d bytes: %.0f bytes of memory for each", size, did)
		}
	}
}

// FEATURES: R62
func TestManyOptionsTakeLinearWork(t *testing.T) {
	e := engineFor(t, "build")
	for start, unit := range map[string]string{"sed -i": " -e p", "tar xf a": " -C d", "tar cf": "f"} {
		l := Line{Text: start + strings.Repeat(unit, 4000) + " x", Cwd: "/home/me/project", Home: "/home/me"}
		if did := work(e, l) / float64(len(l.Text)); did > moreWork*maxWork {
			t.Errorf("%s%s…: %.0f bytes of memory for each", start, unit, did)
		}
	}
}

// maxWork is how much memory may be allocated for each byte of a line, all in all. A line of 1 MiB that copied itself for each of
// its words would take a hundred thousand.
const maxWork, maxWorkOfQuotes, maxWorkOfPaths = 500.0, 130.0, 2000.0
