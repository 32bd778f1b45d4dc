package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestTable checks that every row can be formatted and parsed, its default is within its bounds, and it has a section.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range KeySpecs() {
		if seen[r.Key] || strings.Count(r.Key, ".") != 1 || r.Help == "" || r.When == "" {
			t.Errorf("row %+v", r)
		}
		seen[r.Key] = true
		s := Default()
		text := r.Get(s)
		if r.Kind != List {
			if err := r.setText(s, text); err != nil {
				t.Errorf("%s: its default %q: %v", r.Key, text, err)
			}
		}
		if !reflect.DeepEqual(s, Default()) {
			t.Errorf("%s: %q parsed as another value than %q", r.Key, text, r.Default)
		}
	}
}

const fullConfig = `# mine
[view]
theme = "night"  # dark
hints = false

[retention]
session_bytes = "500MB"
session_age = "90d"
total_bytes = 1_000
dead = 0

[exec]
timeout = "1m30s"
idle_timeout = 0

[attach]
detach_key = 'C-a d'

[notify]
command = ["notify-send", "longterm"]
webhook = "https://example.org/hook"

[keys]
zoom = "z F11"
"tab-next" = "F6"

[themes.night]
background = "#101010"
bar = 4

[[matchers]]
name = "mine"
commands = ["mytool"]
patterns = ['^(?P<file>\S+):(?P<line>\d+)$', '^  (?P<message>.*)$']
loop = true
[[matchers]]
name = "other"
severity = "note"
patterns = ["^# (?P<message>.*)$"]

[[hooks]]
name = "tell"
on = ["failed", "input"]
session = "build-*"
label = ["of=web", "ci"]
run = ["notify-send", "longterm"]
every = "30s"
[[hooks]]
name = "log"
on = "bell"
run = ["logger"]
timeout = "1h"
[[hooks]]
name = "phone"
on = "approval"
webhook = "https://ntfy.example/topic"
format = "ntfy"
`

func TestDecode(t *testing.T) {
	f, err := Decode("config.toml", []byte(fullConfig))
	if err != nil {
		t.Fatal(err)
	}
	s := f.Settings
	want := Retention{SessionBytes: 500e6, SessionAge: 90 * 24 * time.Hour, TotalBytes: 1000, AuditBytes: 4 << 30}
	if s.Retention != want {
		t.Errorf("retention %+v", s.Retention)
	}
	if s.View.Theme != "night" || s.View.Hints || s.View.Prefix != "C-Space" {
		t.Errorf("view %+v", s.View)
	}
	if s.Exec.Timeout != 90*time.Second || s.Exec.IdleTimeout != 0 || s.Exec.MaxOutput != 16<<10 {
		t.Errorf("exec %+v", s.Exec)
	}
	if !slices.Equal(s.Notify.Command, []string{"notify-send", "longterm"}) || s.Attach.DetachKey != "C-a d" {
		t.Errorf("notify %+v attach %+v", s.Notify, s.Attach)
	}
	if !slices.Equal(s.Chords()["zoom"], []string{"z", "F11"}) || s.Keys["tab-next"] != "F6" || s.Themes["night"]["bar"] != "4" {
		t.Errorf("keys %v themes %v", s.Keys, s.Themes)
	}
	if len(s.Matchers) != 2 || !s.Matchers[0].Patterns[1].Loop || s.Matchers[1].Severity != "note" {
		t.Errorf("matchers %+v", s.Matchers)
	}
	hooks := []Hook{
		{Name: "tell", On: []string{"failed", "input"}, Session: []string{"build-*"}, Label: []string{"of=web", "ci"}, Run: []string{"notify-send", "longterm"}, Every: 30 * time.Second, Timeout: time.Minute},
		{Name: "log", On: []string{"bell"}, Run: []string{"logger"}, Timeout: time.Hour},
		{Name: "phone", On: []string{"approval"}, Webhook: "https://ntfy.example/topic", Format: "ntfy", Timeout: time.Minute},
	}
	if !reflect.DeepEqual(s.Hooks, hooks) {
		t.Errorf("hooks %+v", s.Hooks)
	}
	if kinds := s.Hooks[0].Kinds(); !slices.Equal(kinds, []string{"command", "input", "job", "session"}) || len(s.Hooks[1].Kinds()) != 0 {
		t.Errorf("kinds %q %q", kinds, s.Hooks[1].Kinds())
	}
	if v, err := f.Value("hooks"); err != nil || v.Value != "tell, log, phone" || v.Line < 30 {
		t.Errorf("%+v %v", v, err)
	}
	if v, err := f.Value("matchers"); err != nil || v.Value != "mine, other" || v.Line < 30 {
		t.Errorf("%+v %v", v, err)
	}
	v, err := f.Value("retention.dead")
	if err != nil || v.SourceText() != "config.toml:10" || v.Value != "0" || v.Default != "2000" {
		t.Errorf("%+v %v", v, err)
	}
	if v, _ = f.Value("sync.interval"); v.SourceText() != "default" || v.Value != "1s" {
		t.Errorf("%+v", v)
	}
}

// TestDecode_EquivalentForms checks that equivalent notations give the same settings.
func TestDecode_EquivalentForms(t *testing.T) {
	for _, src := range []string{
		"[exec]\ntimeout = '5m'\n", "exec.timeout = \"5m\"", "exec = { timeout = \"5m\" }",
		"[\"exec\"]\r\n\"timeout\" = \"\"\"5m\"\"\"\r\n", "exec . timeout = '5m' # so",
	} {
		f, err := Decode("", []byte(src))
		if err != nil || f.Settings.Exec.Timeout != 5*time.Minute {
			t.Errorf("%q: %v", src, err)
		}
	}
}

func TestDecode_Problems(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"[retention]\nsesion_bytes = 1", `2:1: retention.sesion_bytes: no such key; did you mean "retention.session_bytes"?`},
		{"[retention]\n  xyz = 1", `2:3: retention.xyz: no such key; [retention] has session_bytes, session_age, total_bytes, audit_bytes, audit_age, dead, dead_age`},
		{"[retenton]\ndead = 1", `1:2: retenton: no such section; did you mean "retention"?`},
		{"[view]\nhints = \"yes\"", `2:9: view.hints: found a text, want true or false, without quotes`},
		{"[view]\nsize = \"biggest\"", `2:8: view.size: "biggest" is not possible; latest, largest, smallest, fixed, none`},
		{"[exec]\ntimeout = 60", `2:11: exec.timeout: a time has a unit, as in "60s"; a time, 0 to 36500d`},
		{"[exec]\ntimeout = \"200y\"", `2:11: exec.timeout: 200y is out of bounds; a time, 0 to 36500d`},
		{"[exec]\ntimeout = \"5 parsecs\"", `2:11: exec.timeout: "5 parsecs" is no time; give one as in "90d"`},
		{"[limits]\nsessions = 0", `2:12: limits.sessions: 0 is out of bounds; 1 to 100000`},
		{"[limits]\nsessions = 1.5", `2:12: limits.sessions: found a number with a fraction, want a number, 1 to 100000`},
		{"[limits]\nsessions = 99999999999999999999", `2:12`},
		{"[retention]\ntotal_bytes = \"-1GB\"", `2:15: retention.total_bytes: "-1GB" is no size`},
		{"[retention]\ntotal_bytes = -1", `2:15: retention.total_bytes`},
		{"[retention]\ntotal_bytes = \"99999999PiB\"", `is too much`},
		{"[attach]\ndetach_key = \"C-[ d\"", `2:14: attach.detach_key: key "C-[ d"`},
		{"[keys]\nzoom = \"Nokey-z\"", `2:8: keys.zoom: `},
		{"[keys]\nzoom = \"z pain:f\"", `2:8: keys.zoom: unknown mode "pain"; use one of direct, pane, tab, resize, session`},
		{"[keys]\nscroll-up = \"pane:k\"", `2:1: keys.scroll-up: key of scroll-up: copy mode keys take no mode`},
		{"[keys]\n\nzom = \"z\"", `3:1: keys.zom: the viewer has no such action; did you mean "zoom"?; its help lists them`},
		{"[keys]\nkill = \"z\"", `2:1: keys.kill: key z is bound to both kill and zoom`},
		{"[view]\ntheme = \"blak\"", `2:1: view.theme: no theme "blak"; there are auto, dark, light, high-contrast, terminal, mono`},
		{"[view]\nprefix = \"C-a C-b\"", `2:10: view.prefix: `},
		{"[themes.x]\nbra = 1", `2:1: themes.x.bra: a theme has no such part; did you mean "bar"?; there are background, bar`},
		{"[themes.dark]\nbar = 1", `2:1: themes.dark: this is a built-in theme`},
		{"[keys]\nzoom = 5", `2:8: keys.zoom: found a number, want an action and its keys`},
		{"[themes.x]\nbar = \"blurple\"", `2:7: themes.x.bar: "blurple" is no colour`},
		{"[themes]\nbar = \"blue\"", `1:2: themes: each theme needs a section`},
		{"[view]\ntheme = \"nihgt\"\n[themes.night]\nbar = 1", `2:1: view.theme: no theme "nihgt"; did you mean "night"?`},
		{"[[matchers]]\nname = \"a\"\npatterns = [\"(\"]", "3:12: matchers: pattern 1: error parsing regexp"},
		{"[[matchers]]\nname = \"a\"\npatterns = [\"x\"]", "2:8: matchers: no pattern has the group message"},
		{"[hooks]\nname = \"a\"", "1:2: hooks: hooks are a list; write [[hooks]]"},
		{"[[hooks]]\nname = \"a b\"\non = \"exit\"\nrun = [\"x\"]", `2:8: hooks.name: "a b" is no name of a hook; use 1 to 50 letters, digits, - _ and .`},
		{"[[hooks]]\non = \"exit\"\nrun = [\"x\"]", `2:1: hooks.name: a hook needs a name, as in name = "desktop"`},
		{"[[hooks]]\nname = \"a\"\non = \"exit\"\nrun = [\"x\"]\n[[hooks]]\nname = \"a\"\non = \"exit\"\nrun = [\"x\"]", `6:8: hooks.name: the name "a" comes twice`},
		{"[[hooks]]\nname = \"a\"\non = [\"exit\", \"fialed\"]\nrun = [\"x\"]", `3:6: hooks.on: no event "fialed"; did you mean "failed"?; there are exit, command, job, finished, failed`},
		{"[[hooks]]\nname = \"a\"\non = \"exit\"", `2:1: hooks.run: it has nothing to run; give a program and its arguments`},
		{"[[hooks]]\nname = \"a\"\non = \"exit\"\nrun = \"notify-send x\"", `4:7: hooks.run: found a text, want a list of texts`},
		{"[[hooks]]\nname = \"a\"\nrun = [\"x\"]", `2:1: hooks.on: missing events; known: `},
		{"[[hooks]]\nname = \"a\"\non = \"exit\"\nrun = [\"x\"]\ntimeout = \"2h\"", `5:11: hooks.timeout: found a text, want 1s to 1h`},
		{"[[hooks]]\nname = \"a\"\non = \"exit\"\nrun = [\"x\"]\nevery = 5", `5:9: hooks.every: found a number, want a time, as in "30s"`},
		{"[[hooks]]\nname = \"a\"\non = \"exit\"\nrun = [\"x\"]\nsession = \"[\"", `5:11: hooks.session: "[" is no pattern of names`},
		{"[[hooks]]\nname = \"a\"\non = \"exit\"\nrun = [\"x\"]\nlabel = \"=x\"", `5:9: hooks.label: "=x" is no label; write KEY=VALUE, or KEY for any value`},
		{"[[hooks]]\nname = \"a\"\non = \"exit\"\nrun = [\"x\"]\nwebhook = \"https://h/t\"", `5:11: hooks.webhook: it has something to run and somewhere to post; make it two hooks`},
		{"[[hooks]]\nname = \"a\"\non = \"exit\"\nwebhook = \"ftp://h/t\"", `4:11: hooks.webhook: it is no http or https URL; give one as in https://host/path`},
		{"[[hooks]]\nname = \"a\"\non = \"exit\"\nwebhook = \"https://h/t\"\ntimeout = \"5s\"", `5:11: hooks.timeout: what is posted is tried for 10s`},
		{"[[hooks]]\nname = \"a\"\non = \"exit\"\nwebhook = \"https://h/t\"\nformat = \"xml\"", `5:10: hooks.format: want one of auto, json, ntfy`},
		{"[[hooks]]\nname = \"a\"\non = \"exit\"\nrun = [\"x\"]\nformat = \"json\"", `5:10: hooks.format: want one of auto, json, ntfy, for a webhook only`},
		{"[[hooks]]\nnme = \"a\"", `2:1: hooks.nme: no such key; did you mean "name"?; [[hooks]] has name, on, run`},
		{"[[matchers]]\nnme = \"a\"", `2:1: matchers.nme: no such key; did you mean "name"?`},
		{"[matchers]\nname = \"a\"", "write [[matchers]]"},
		{"[notify]\nwebhook = \"ftp://x\"", "is no URL of a web server"},
		{"[notify]\ncommand = \"notify-send hello\"", `2:11: notify.command: found a text, want a list of texts`},
		{"[shells]\ndefault = \"bash\"", "is no absolute path"},
		{"[view]\nhints = true\nhints = false", "3:1: "},
		{"[view\nhints = true", "1:"},
		{"hints = true", "1:1: hints: no such key"},
		{"exec = 5", "1:1: exec: no such key"},
		{"[exec.timeout]\nx = 1", `1:2: exec.timeout: no such section`},
		{"\xff\xfe", "1:1"},
	} {
		_, err := Decode("", []byte(c.src))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v\n want %s", c.src, err, c.want)
		}
	}
}

// TestDecode_ReportsAllProblems checks that all problems are reported at once, in the file's order, and there are no
// settings.
func TestDecode_ReportsAllProblems(t *testing.T) {
	f, err := Decode("/x/config.toml", []byte("[limits]\nsessions = \"a\"\n[vieww]\nfoo = 1\n[exec]\ngrace = \"1h\"\n"))
	if f != nil {
		t.Error("got settings of an invalid file")
	}
	list := ProblemsOf(err)
	if len(list) != 3 || list[0].Line != 2 || list[1].Line != 3 || list[2].Line != 6 {
		t.Fatalf("%v", err)
	}
	if got := list[2].Error(); got != "/x/config.toml:6:9: exec.grace: 1h is out of bounds; a time, 10ms to 5m" {
		t.Error(got)
	}
}

func TestEnv(t *testing.T) {
	f, _ := Decode("c.toml", []byte("[attach]\ndetach_key='C-b d'\n"))
	env := map[string]string{"LONGTERM_DETACH_KEY": "C-a q"}
	if err := f.ApplyEnv(func(n string) string { return env[n] }); err != nil {
		t.Fatal(err)
	}
	if v, _ := f.Value("attach.detach_key"); v.Value != "C-a q" || v.SourceText() != "$LONGTERM_DETACH_KEY" {
		t.Errorf("%+v", v)
	}
	f, _ = Decode("c.toml", []byte("[attach]\ndetach_key='C-b d'\n"))
	env["LONGTERM_DETACH_KEY"] = "x"
	if err := f.ApplyEnv(func(n string) string { return env[n] }); err == nil || f.Settings.Attach.DetachKey != "C-b d" {
		t.Errorf("%v %q", err, f.Settings.Attach.DetachKey)
	}
}

func TestSizesAndTimes(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "4096": 4096, "2GiB": 2 << 30, "2g": 2 << 30, "500MB": 500e6, "1.5 GB": 15e8, "1kb": 1000, "7B": 7} {
		if got, err := ParseBytes(text); err != nil || got != want {
			t.Errorf("%q: %d %v", text, got, err)
		}
	}
	for _, text := range []string{"", "GB", "1e3", "0x10", "1 GBs", "-1", "Inf", "1_000", "9999999TB", "9.3e9GB", "1.2.3"} {
		if got, err := ParseBytes(text); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
	for text, want := range map[string]time.Duration{"0": 0, "90d": 90 * day, "1h30m": 90 * time.Minute, "1.5h": 90 * time.Minute, "2w": 14 * day, "200ms": 200 * time.Millisecond, "1y": year, "5m 3s": 303 * time.Second} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%q: %v %v", text, got, err)
		}
	}
	for _, text := range []string{"", "5", "m", "5x", "-5m", "1000y", "1h-3m", "."} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestSet(t *testing.T) {
	for _, c := range []struct{ name, src, key, value, want string }{
		{"nothing there", "", "exec.timeout", "5m", "[exec]\ntimeout = \"5m\"\n"},
		{"replaced", "# a\n[exec] # b\ntimeout = \"1m\" # c\n# d\n", "exec.timeout", "5m", "# a\n[exec] # b\ntimeout = \"5m\" # c\n# d\n"},
		{"added to its section", "[exec]\n  # first\n  timeout = \"1m\"\n\n[view]\nhints = true\n", "exec.grace", "1s", "[exec]\n  # first\n  timeout = \"1m\"\n  grace = \"1s\"\n\n[view]\nhints = true\n"},
		{"empty section", "[exec]\n[view]", "exec.grace", "1s", "[exec]\ngrace = \"1s\"\n[view]"},
		{"no newline at the end", "[view]\nhints = true", "view.mouse", "false", "[view]\nhints = true\nmouse = false\n"},
		{"new section", "[view]\nhints = true", "limits.sessions", "7", "[view]\nhints = true\n\n[limits]\nsessions = 7\n"},
		{"dotted", "exec.timeout = '1m'\n[view]\n", "exec.grace", "1s", "exec.timeout = '1m'\nexec.grace = \"1s\"\n[view]\n"},
		{"inline replaced", "exec = { timeout = '1m' }\n", "exec.timeout", "2m", "exec = { timeout = \"2m\" }\n"},
		{"a key with a backslash", "", "attach.detach_key", `C-\ x`, "[attach]\ndetach_key = 'C-\\ x'\n"},
		{"other line ends", "[view]\r\nhints = true\r\n", "view.mouse", "false", "[view]\r\nhints = true\r\nmouse = false\r\n"},
		{"list over lines", "[notify]\ncommand = [\n  'a', # x\n  'b',\n] # y\n", "notify.command", "c", "[notify]\ncommand = [\"c\"] # y\n"},
		{"keys of modes", "[keys]\nzoom = 'F1'\n", "keys.tab-next", "] direct:M-] tab:F2", "[keys]\nzoom = 'F1'\ntab-next = \"] direct:M-] tab:F2\"\n"},
		{"keys", "[keys]\nzoom = 'F1'\n", "keys.tab-next", "] F2", "[keys]\nzoom = 'F1'\ntab-next = \"] F2\"\n"},
		{"theme", "", "themes.my theme.bar", "#123456", "[themes.\"my theme\"]\nbar = \"#123456\"\n"},
	} {
		got, err := Set("", []byte(c.src), c.key, []string{c.value})
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n got %q\nwant %q", c.name, err, got, c.want)
		}
	}
	for _, c := range []struct{ src, key, value, want string }{
		{"", "exec.timeout", "1", "is no time"},
		{"", "exec.timout", "1m", `did you mean "exec.timeout"?`},
		{"", "keys.zoom", "Nokey-z", "keys.zoom: "},
		{"exec = { timeout = '1m' }\n", "exec.grace", "1s", "config edit"},
		{"[view]\nhints = 1\n", "exec.grace", "1s", "2:9: view.hints"},
		{"", "matchers.name", "x", "config edit"},
		{"", "hooks", "x", "config edit"},
	} {
		if got, err := Set("", []byte(c.src), c.key, []string{c.value}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s = %s in %q: %v (%q)", c.key, c.value, c.src, err, got)
		}
	}
}

// TestTemplate checks that the template is valid, also with its comments removed.
func TestTemplate(t *testing.T) {
	if _, err := Decode("t", []byte(Template())); err != nil {
		t.Error(err)
	}
	var bare []string
	for _, line := range strings.Split(Template(), "\n") {
		if strings.HasPrefix(line, "# ") && !strings.Contains(line, " = ") && !strings.HasPrefix(line, "# [") {
			continue
		}
		bare = append(bare, strings.TrimPrefix(line, "# "))
	}
	f, err := Decode("t", []byte(strings.Join(bare, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range f.Values()[:len(KeySpecs())] {
		if v.Value != v.Default || v.Source != "file" {
			t.Errorf("%+v", v)
		}
	}
}

func TestUnset(t *testing.T) {
	got, err := Unset("", []byte("[exec]\n# a\ntimeout = '2m' # b\ngrace = '1s'\n"), "exec.timeout")
	if err != nil || string(got) != "[exec]\n# a\ngrace = '1s'\n" {
		t.Errorf("%q %v", got, err)
	}
	for src, key := range map[string]string{"exec = { grace = '1s' }": "exec.grace", "[exec]": "exec.timeout", "": "exec.foo"} {
		if got, err := Unset("", []byte(src), key); err == nil {
			t.Errorf("%s of %q: %q", key, src, got)
		}
	}
}

// FuzzDecode checks that any file decodes without a panic, that settings can be formatted, that positions are in the file, and
// that a value that was set is read back.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(fullConfig))
	f.Add([]byte("exec = { timeout = '1m', grace = \"\"\"1s\"\"\" }\n[[matchers]]\n[[matchers]]\nname='x'"))
	f.Add([]byte("keys.a.b = 1\nthemes = 5\n[themes.x.y]\n\"view\".'hints' = true"))
	f.Add([]byte("hooks = [ { name = 'a', on = 'exit', run = ['x'] } ]\n[[hooks]]\nevery = '1s'"))
	f.Add([]byte("matchers = [ { name = 'a' } ]\n[exec]\ntimeout = 1979-05-27\ngrace = [1, [2]]"))
	f.Fuzz(func(t *testing.T, src []byte) {
		file, err := Decode("f", src)
		if err != nil {
			var list Problems
			if !errors.As(err, &list) || len(list) == 0 {
				t.Fatalf("%T %v", err, err)
			}
			for _, p := range list {
				if lines := strings.Count(string(src), "\n") + 1; p.Line > lines || p.Line < 0 || p.Column < 0 {
					t.Fatalf("%v of %d lines", p, lines)
				}
			}
			return
		}
		for _, v := range file.Values() {
			if v.Source == "file" && v.Line < 1 {
				t.Fatalf("%+v", v)
			}
		}
		edited, err := Set("f", src, "exec.timeout", []string{"77s"})
		if err != nil {
			return // in a form that Set does not edit
		}
		again, err := Decode("f", edited)
		if err != nil || again.Settings.Exec.Timeout != 77*time.Second {
			t.Fatalf("%v\n%s", err, edited)
		}
		again.Settings.Exec.Timeout = file.Settings.Exec.Timeout
		if fmt.Sprint(again.Settings) != fmt.Sprint(file.Settings) {
			t.Fatalf("other values changed:\n%s\n%s", src, edited)
		}
	})
}
