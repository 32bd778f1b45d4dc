package effects

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/policy"
)

// FEATURES: R126
func TestBeyond_NamesWhatNoDraftHolds(t *testing.T) {
	e, err := policy.New(policy.Options{Preset: policy.BuildDraft, Rules: []policy.Rule{{Program: "shred", Decision: policy.Ask}}})
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"rm -rf build && make":             "",
		"rm -rf build dist/*":              "",
		"sed -i s/a/b/ src/main.go":        "",
		"bash gen.sh > out.go":             "",
		"find . -name '*.o' -delete":       "",
		"frobnicate --all":                 "",
		"python3 -c 'import os; os.x()'":   "",
		"cp a b; mv c d":                   "",
		"ln -s ../x y; chmod -R u+w .":     "",
		"cp /etc/hosts hosts":              "",
		"git reset --hard":                 "",
		"git -c color.ui=always push":      "git push uses the network",
		"rm x; git fetch":                  "git fetch uses the network",
		"rm -rf node_modules; npm install": "npm install uses the network",
		"pip install x":                    "pip install uses the network",
		"curl -o x example.org":            "curl uses the network",
		"curl --version":                   "",
		"sudo rm x":                        "sudo uses the rights of another user",
		"docker rm x":                      "docker uses containers or machines outside the draft",
		"kill 12":                          "kill uses processes outside the draft",
		"systemctl restart x":              "systemctl uses services of the machine",
		"rm ../x":                          "/home/me/x is outside of /home/me/p",
		"rm -rf .":                         "/home/me/p is outside of /home/me/p",
		"rm ~/x":                           "/home/me/x is outside of /home/me/p",
		"cp a /etc/b":                      "/etc/b is outside of /home/me/p",
		"echo x > ../y":                    "/home/me/y is outside of /home/me/p",
		"cat ~/.ssh/id_rsa":                `rule "not reading" requires an answer before cat runs`,
		"shred x":                          `rule "ask shred" requires an answer before shred runs`,
		"find ~ -mtime +0 -delete":         `rule "hard:remove" requires an answer before find runs`,
	} {
		j := e.Judge(policy.Line{Text: line, Cwd: "/home/me/p", Home: "/home/me"})
		if got := EscapeReason(j.Commands, "/home/me/p"); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// Of developers' daily lines, most of those that build asks about run in a draft first. The others are asked about as before.
//
// FEATURES: R126
func TestBuildDraft_AsksLessBeforeTheRun(t *testing.T) {
	engines := map[policy.Preset]*policy.Engine{}
	for _, p := range []policy.Preset{policy.Build, policy.BuildDraft} {
		e, err := policy.New(policy.Options{Preset: p})
		if err != nil {
			t.Fatal(err)
		}
		engines[p] = e
	}
	for _, file := range []string{"daily_pass.jsonl", "work_pass.jsonl"} {
		f, err := os.Open(filepath.Join("..", "testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		lines, build, before := 0, 0, 0
		seen := map[string]bool{}
		for s := bufio.NewScanner(f); s.Scan(); {
			var x struct{ Cmd, Shell string }
			if err := json.Unmarshal(s.Bytes(), &x); err != nil {
				t.Fatal(err)
			}
			if seen[x.Cmd] {
				continue
			}
			seen[x.Cmd] = true
			lines++
			l := policy.Line{Text: x.Cmd, Shell: x.Shell, Cwd: "/home/me/p", Home: "/home/me"}
			j := engines[policy.Build].Judge(l)
			d := engines[policy.BuildDraft].Judge(l)
			if d.Verdict != j.Verdict {
				t.Errorf("%s: %s, and %s with drafts", x.Cmd, j.Verdict, d.Verdict)
			}
			if j.Verdict != policy.Ask {
				continue
			}
			build++
			if EscapeReason(d.Commands, "/home/me/p") != "" || strings.Contains(x.Cmd, "/tmp") {
				before++
			}
		}
		t.Logf("%s: of %d lines, build asks about %d, build-draft before the run about %d", file, lines, build, before)
		if before*4 > build*3 {
			t.Errorf("%s: of %d lines, build asks about %d, and build-draft about %d before they run", file, lines, build, before)
		}
	}
}
