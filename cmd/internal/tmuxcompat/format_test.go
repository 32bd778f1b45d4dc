//go:build unix

package tmuxcompat

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

func values(name string) string {
	return map[string]string{"a": "one", "zero": "0", "path": "/x/y.go", "when": "0x", "session_name": "w"}[name]
}

// FEATURES: R106
func TestExpand(t *testing.T) {
	for format, want := range map[string]string{
		"":                            "",
		"#{a}":                        "one",
		"x#{nope}y":                   "xy",
		"#S ##S #":                    "w #S #",
		"#{?a,yes,no}":                "yes",
		"#{?zero,yes,no}":             "no",
		"#{?zero,yes}":                "",
		"#{?#{==:#{a},one},x,y}":      "x",
		"#{?a,#{a}#,b,c}":             "one,b",
		"#{==:a,#{a}}":                "0",
		"#{!=:a,b}#{||:0,1}#{&&:1,0}": "110",
		"#{=2:a}|#{=-2:a}":            "on|ne",
		"#{p5:a}|#{p-5:a}":            "one  |  one",
		"#{b:path} #{d:path}":         "y.go /x",
		"#{q:#{l:a b}}":               "a\\ b",
		"#{m:o*,#{a}}":                "1",
		"#{l:#{a}}":                   "#{a}",
		"#{t:when}":                   "",
		"#(rm -rf /)x":                "x",
		"#{a":                         "",
		"#{p999999999:a}":             "",
	} {
		if got := expand(format, values); got != want {
			t.Errorf("%q: %q, want %q", format, got, want)
		}
	}
}

func FuzzExpand(f *testing.F) {
	for _, s := range []string{"#{?a,#{==:x,y},#{=3:a}}", "#{#{#{", "#{p-3:#{b:path}}", "##{#,}", "#(a", "#{m:[,x}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := expand(s, values); len(got) > 2000*(len(s)+1) {
			t.Errorf("%d bytes of %q", len(got), s)
		}
	})
}

func TestWords(t *testing.T) {
	got := split([]string{"a", "b;", "c", ";", "d", `e\;`})
	if want := "a b|c|d e;"; join3(got) != want {
		t.Errorf("%q, want %q", join3(got), want)
	}
	flags, rest, err := getopt("ab:c:", []string{"-ab", "x", "-cy", "--", "-a"})
	if err != nil || len(flags['a']) != 1 || flags['b'][0] != "x" || flags['c'][0] != "y" || !slices.Equal(rest, []string{"-a"}) {
		t.Errorf("%v %q %v", flags, rest, err)
	}
	for _, args := range [][]string{{"-x"}, {"-b"}, {"-:"}} {
		if _, _, err := getopt("ab:", args); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}

func join3(all [][]string) string {
	var lines []string
	for _, c := range all {
		lines = append(lines, strings.Join(c, " "))
	}
	return strings.Join(lines, "|")
}

func TestKeyNames(t *testing.T) {
	for word, want := range map[string]string{
		"Enter": "Enter", "enter": "Enter", "C-c": "C-c", "C-C": "C-c", "^C": "C-c", "M-x": "M-x", "C-M-a": "C-M-a", "BTab": "S-Tab", "PPage": "PageUp", "F5": "F5", "S-Up": "S-Up",
		"print": "", "next": "", "Ctrl+C": "", "a": "", "ls -l": "", "C-": "", "^": "", "F13": "", "C-foo": "",
	} {
		if got, ok := keyName(word); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v", word, got, ok)
		}
	}
}

// TestOneStep checks that a line and its Enter are typed in one step: input of two callers is never mixed.
func TestOneStep(t *testing.T) {
	x := &command{call: &call{}, flags: map[byte][]string{}}
	type typed = []api.Input
	for _, c := range []struct {
		args []string
		want int
	}{{[]string{"cd /x && make", "Enter"}, 1}, {[]string{"a", "b", "Enter"}, 1}, {[]string{"C-c", "C-c", "Enter"}, 1}, {[]string{"a", "Enter", "b", "Enter"}, 2}, {[]string{"Enter"}, 1}} {
		var all typed
		for _, a := range c.args {
			in, err := x.key(a, nil)
			if err != nil {
				t.Fatal(err)
			}
			all = join(all, in)
		}
		if len(all) != c.want {
			t.Errorf("%q: %+v", c.args, all)
		}
	}
}

// TestOperators checks that the results are those of tmux 3.3a.
func TestOperators(t *testing.T) {
	value := func(name string) string { return map[string]string{"window_name": "main"}[name] }
	for format, want := range map[string]string{
		"#{e|+|:1,2} #{e|-:7,2} #{e|*:3,4}": "3 5 12", "#{s/main/x/:window_name}": "x", "#{<:1,2}#{>:1,2}#{<=:1,1}#{>=:1,2}": "1010",
		"#{m/r:^ma,main}": "1", "#{w:window_name} #{=2:window_name} #{=-2:window_name} #{=/2/..:window_name}": "4 ma in ma..",
		"#{e|/:1,0}.": ".", "#{m/r:(,x}": "0", `#{s/m(a)/[\1]/:window_name}`: "[a]in", "#{e|>:10,9}": "1", "#{s/a/$1/:window_name}": "m$1in",
	} {
		if got := expand(format, value); got != want {
			t.Errorf("%s: %q, not %q", format, got, want)
		}
	}
}

func TestStrftime(t *testing.T) {
	at := time.Date(2026, time.November, 28, 12, 30, 5, 0, time.UTC)
	for text, want := range map[string]string{"%H:%M %d-%b-%y": "12:30 28-Nov-26", "50%": "50%", "%% %T %0": "% 12:30:05 %0", "": ""} {
		if got := strftime(text, at); got != want {
			t.Errorf("%s: %q, not %q", text, got, want)
		}
	}
}
