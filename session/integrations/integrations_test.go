package integrations

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/config/tomldoc"
)

func place(t *testing.T) Place {
	t.Helper()
	return Place{Home: t.TempDir(), Getenv: func(string) string { return "" }, OS: "linux", Command: "longterm", Skill: SkillText}
}

// apply installs or removes a program's integration, and returns the number of changed files.
func apply(t *testing.T, p Place, name string, undo bool) (changed int) {
	t.Helper()
	program, err := For(name)
	if err != nil {
		t.Fatal(err)
	}
	all, err := program.Plan(p, undo)
	if err != nil {
		t.Fatal(err)
	}
	for i := range all {
		if all[i].HasChanged() {
			changed++
		}
		if err := all[i].Apply(); err != nil {
			t.Fatal(err)
		}
	}
	return changed
}

func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			b, readErr := os.ReadFile(path)
			all[strings.TrimPrefix(path, dir+"/")], err = string(b), readErr
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestInAndOut checks that entries are added to missing files, never twice, and removed without a trace.
// FEATURES: R106
func TestInAndOut(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			p := place(t)
			if n := apply(t, p, name, false); n < 2 {
				t.Errorf("%d files", n)
			}
			made := tree(t, p.Home)
			for path, text := range made {
				if strings.HasSuffix(path, ".json") && !json.Valid([]byte(text)) {
					t.Errorf("%s is no JSON: %s", path, text)
				}
				if _, err := tomldoc.Parse([]byte(text)); strings.HasSuffix(path, ".toml") && err != nil {
					t.Errorf("%s: %v", path, err)
				}
			}
			if n := apply(t, p, name, false); n != 0 {
				t.Errorf("installed twice: %d files changed", n)
			}
			if n := apply(t, p, name, true); n != len(made) {
				t.Errorf("%d of %d files restored", n, len(made))
			}
			if left := tree(t, p.Home); len(left) != 0 {
				t.Errorf("left: %v", left)
			}
			_ = filepath.WalkDir(p.Home, func(path string, d fs.DirEntry, err error) error {
				if err == nil && slices.Contains(madeFor, d.Name()) {
					t.Errorf("an empty directory is left: %s", path)
				}
				return err
			})
		})
	}
}

// TestOthersStay checks that users' content of these files stays as written, and is restored byte by byte.
func TestOthersStay(t *testing.T) {
	for _, c := range []struct{ program, path, text string }{
		{"claude", ".claude/settings.json", "{\n  \"model\": \"opus\",\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }]\n      }\n    ]\n  }\n}\n"},
		{"claude", ".claude/settings.json", "{\"permissions\":{\"allow\":[\"Bash(ls:*)\"]}}"},
		{"claude", ".claude.json", "{\n  \"numStartups\": 7,\n  \"mcpServers\": {\n    \"other\": {\n      \"command\": \"x\"\n    }\n  },\n  \"projects\": {}\n}"},
		{"codex", ".codex/config.toml", "# mine\nmodel = \"gpt-5\" # good\n\n[mcp_servers.other]\ncommand = \"x\"\n\n# about tui\n[tui]\nnotifications = true\n"},
		{"codex", ".codex/config.toml", "model = \"gpt-5\""},
		{"codex", ".codex/config.toml", "model = \"gpt-5\"\r\n\r\n[tui]\r\nx = 1\r\n"},
		{"gemini", ".gemini/settings.json", "{\n\t// theme\n\t\"ui\": {\"theme\": \"dark\"}, // end\n}\n"},
		{"kimi", ".kimi-code/config.toml", "default_model = \"k\"\n\n[[hooks]]\nevent = \"Stop\"\ncommand = \"bell\"\n\n[models.k]\nx = 1\n"},
		{"opencode", ".config/opencode/opencode.jsonc", "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  // agents\n  \"agent\": {},\n}\n"},
		{"vscode", ".config/Code/User/mcp.json", "{\n\t\"servers\": {\n\t\t\"a\": {\n\t\t\t\"url\": \"http://x\"\n\t\t}\n\t},\n\t\"inputs\": []\n}"},
		{"zed", ".config/zed/settings.json", "// Zed settings\n//\n// For information on how to configure Zed, see the documentation\n{\n  \"ui_font_size\": 16,\n  \"theme\": {\n    \"mode\": \"system\",\n  },\n}\n"},
	} {
		t.Run(c.program, func(t *testing.T) {
			p := place(t)
			path := filepath.Join(p.Home, c.path)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(c.text), 0o640); err != nil {
				t.Fatal(err)
			}
			apply(t, p, c.program, false)
			now, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(now, []byte("longterm")) {
				t.Errorf("nothing was installed in: %s", now)
			}
			for line := range strings.Lines(c.text) { // a comma may follow now
				if line = strings.TrimRight(line, "{}[]\r\n"); !strings.Contains(string(now), line) {
					t.Errorf("%q is missing:\n%s", line, now)
				}
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
			if kept, err := os.ReadFile(path + ".longterm-backup"); err != nil || string(kept) != c.text {
				t.Errorf("the copy is %q, %v", kept, err)
			}
			if n := apply(t, p, c.program, false); n != 0 {
				t.Errorf("installed twice: %d files", n)
			}
			apply(t, p, c.program, true)
			want := c.text
			if !strings.HasSuffix(want, "\n") && strings.HasSuffix(path, ".toml") {
				want += "\n"
			}
			if got, err := os.ReadFile(path); err != nil || string(got) != want {
				t.Errorf("%v\nwas %q\nis  %q", err, c.text, got)
			}
		})
	}
}

// TestOwnEntriesStay checks that a user's changes in our entries are kept, and an older path of longterm is replaced
// instead of duplicated.
func TestOwnEntriesStay(t *testing.T) {
	p := place(t)
	path := filepath.Join(p.Home, ".claude.json")
	own := "{\"mcpServers\": {\"longterm\": {\"command\": \"longterm\", \"args\": [\"mcp\", \"--tools\", \"read\"]}}}"
	if err := os.WriteFile(path, []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	p.Command = "/opt/old dir/longterm"
	apply(t, p, "claude", false)
	if got, _ := os.ReadFile(path); string(got) != own {
		t.Errorf("%s", got)
	}
	hooks, _ := os.ReadFile(filepath.Join(p.Home, ".claude", "settings.json"))
	if !strings.Contains(string(hooks), "'/opt/old dir/longterm' agent hook stop") {
		t.Errorf("the name is not quoted: %s", hooks)
	}
	p.Command = "longterm"
	if n := apply(t, p, "claude", false); n != 0 {
		t.Errorf("%d files changed", n)
	}
}

// TestOwnEntriesStayWhenOursGo checks that an entry that a user wrote under our name, before or instead of us, is not
// removed, and that an entry of an older longterm elsewhere is.
func TestOwnEntriesStayWhenOursGo(t *testing.T) {
	p := place(t)
	for _, c := range []struct{ program, path, own string }{
		{"claude", ".claude.json", `{"mcpServers": {"longterm": {"command": "ssh", "args": ["host", "longterm", "mcp"]}}}`},
		{"claude", ".claude/settings.json", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "longterm agent hook stop && mine"}]}]}}`},
		{"codex", ".codex/config.toml", "[mcp_servers.longterm]\ncommand = \"longterm\"\nargs = [\"mcp\", \"--tools\", \"read\"]\n"},
		{"kimi", ".kimi-code/config.toml", "[[hooks]]\nevent = \"Stop\"\ncommand = \"longterm agent hook stop; mine\"\n"},
		{"zed", ".config/zed/settings.json", `{"context_servers": {"longterm": {"command": "longterm", "args": ["mcp"], "env": {"A": "b"}}}}`},
	} {
		path := filepath.Join(p.Home, c.path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(c.own), 0o600)); err != nil {
			t.Fatal(err)
		}
		program, err := For(c.program)
		if err != nil {
			t.Fatal(err)
		}
		for _, installed := range []bool{false, true} {
			if installed {
				q := p
				q.Command = "/old/place/longterm"
				apply(t, q, c.program, false)
			}
			plan, err := program.Plan(p, true)
			if err != nil {
				t.Fatal(err)
			}
			said := ""
			for i := range plan {
				if plan[i].Path == path {
					said = strings.Join(plan[i].Kept, " ")
				}
			}
			if apply(t, p, c.program, true); !strings.Contains(said, "stays as it is") {
				t.Errorf("%s: the kept entry is not reported: %q", c.path, said)
			}
			if got, err := os.ReadFile(path); string(got) != c.own {
				t.Errorf("%s, installed %t: %s, %v", c.path, installed, got, err)
			}
		}
	}
}

// TestRefused checks that an unreadable file is rejected and stays unchanged, and so does a file of another program,
// and one that changes meanwhile.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ program, path, text, want string }{
		{"claude", ".claude/settings.json", "{\"hooks\": ", "line 1, column 11: parsing value: unexpected EOF"},
		{"claude", ".claude/settings.json", "[]", "the file is no object"},
		{"claude", ".claude/settings.json", "{\"hooks\": {\"Stop\": \"x\"}}", "hooks.Stop is no array"},
		{"claude", ".claude.json", "{\"mcpServers\": 3}", "mcpServers is no object"},
		{"codex", ".codex/config.toml", "model = ", "1:8: expected value"},
		{"codex", ".codex/config.toml", "mcp_servers = { a = { command = \"x\" } }\n", "is mcp_servers written as a value"},
		{"kimi", ".kimi-code/config.toml", "hooks = [{ event = \"Stop\", command = \"x\" }]\n", "is hooks written as a value"},
		{"zed", ".agents/skills/longterm/SKILL.md", "my own", "belongs to another program"},
	} {
		p := place(t)
		path := filepath.Join(p.Home, c.path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		program, _ := For(c.program)
		_, err := program.Plan(p, false)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "nothing was changed") {
			t.Errorf("%s: %v", c.text, err)
		}
		if all := tree(t, p.Home); len(all) != 1 || all[c.path] != c.text {
			t.Errorf("%v", all)
		}
	}
	p := place(t)
	program, _ := For("zed")
	all, err := program.Plan(p, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(all[0].Path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(all[0].Path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := all[0].Apply(); err == nil || !strings.Contains(err.Error(), "changed meanwhile") {
		t.Error(err)
	}
}

// TestLinks checks that a configuration that is a link into a user's dotfiles stays a link.
func TestLinks(t *testing.T) {
	p := place(t)
	target := filepath.Join(p.Home, "dotfiles", "settings.json")
	link := filepath.Join(p.Home, ".gemini", "settings.json")
	for _, dir := range []string{filepath.Dir(target), filepath.Dir(link)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(target, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Skip("no links here: ", err)
	}
	apply(t, p, "gemini", false)
	if _, err := os.Readlink(link); err != nil {
		t.Error("the link is gone")
	}
	if b, _ := os.ReadFile(target); !bytes.Contains(b, []byte("longterm")) {
		t.Errorf("%s", b)
	}
}

// TestKimiWritesEmptyLists checks that an empty list of hooks, as Kimi itself writes it, counts as no hooks.
func TestKimiWritesEmptyLists(t *testing.T) {
	p := place(t)
	path := filepath.Join(p.Home, ".kimi", "config.toml") // the older one
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("default_model = \"\"\nhooks = []\n\n[models]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	apply(t, p, "kimi", false)
	b, _ := os.ReadFile(path)
	if _, err := tomldoc.Parse(b); err != nil || strings.Count(string(b), "[[hooks]]") != 3 {
		t.Errorf("%v\n%s", err, b)
	}
}

// FuzzTOML adds tables to any TOML and removes them: the earlier content is there, and nothing else.
func FuzzTOML(f *testing.F) {
	for _, s := range []string{"", "a = 1", "[mcp_servers.x]\na = 1\n", "hooks = []\n", "[[hooks]]\nevent = \"Stop\"\ncommand = \"x\"\n# end\n", "a = \"\"\"\n[x]\n\"\"\"\r\n"} {
		f.Add(s)
	}
	p := Place{Getenv: func(string) string { return "" }, Command: "longterm"}
	f.Fuzz(func(t *testing.T, text string) {
		was, err := tomldoc.Parse([]byte(text))
		if err != nil || strings.Contains(text, "longterm") {
			return
		}
		for _, e := range []editor{tomlServer{}, tomlHooks{events: []event{{"Stop", onStop}}}} {
			now, _, err := e.install(p, []byte(text))
			if err != nil {
				continue
			}
			if again, _, err := e.install(p, now); err != nil || !bytes.Equal(again, now) {
				t.Fatalf("twice: %v\n%q\n%q", err, now, again)
			}
			back, _, err := e.remove(p, now)
			if err != nil {
				t.Fatalf("%v in %q", err, now)
			}
			d, err := tomldoc.Parse(back)
			if err != nil {
				t.Fatalf("%v in %q", err, back)
			}
			if len(d.Items) > len(was.Items) || len(d.Items) < len(was.Items)-1 { // an empty list may go
				t.Fatalf("%d values, were %d: %q", len(d.Items), len(was.Items), back)
			}
		}
	})
}
