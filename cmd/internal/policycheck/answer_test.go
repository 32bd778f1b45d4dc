package policycheck

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/policy/rulebook"
)

// TestAnswer_ShowsVerdictOfWhatIsRun checks that a command that runs another one is shown with that one's verdict.
//
// FAULT: J
func TestAnswer_ShowsVerdictOfWhatIsRun(t *testing.T) {
	g := Checker{Cwd: "/home/me/project", Home: "/home/me"}
	for line, want := range map[string]string{
		"make && sudo rm -rf /":         "deny   sudo rm -rf /",
		"make && env A=1 rm -rf /":      "deny   env A=1 rm -rf /",
		"ls && sh -c 'rm -rf /'":        "deny   sh -c rm -rf /",
		"ls; sudo timeout 5 rm -rf ~":   "deny   sudo timeout 5 rm -rf /home/me",
		"make && sudo bash x.sh":        "ask    sudo bash x.sh",
		"make && sudo make install":     "allow  sudo make install",
		"rm -rf / && echo 'x rm -rf y'": "allow  echo x rm -rf y",
	} {
		a, err := g.Answer(Query{Cmd: line, Preset: "hard"})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		a.Write(&b)
		if !strings.Contains(b.String(), "  "+want+"\n") {
			t.Errorf("%s: %s, want %q", line, b.String(), want)
		}
	}
}

// TestAnswer_KnowsOwnDirectory_UnderPreset checks that longterm's own directory counts with a preset alone too.
//
// FAULT: J
func TestAnswer_KnowsOwnDirectory_UnderPreset(t *testing.T) {
	own := t.TempDir()
	book := rulebook.Open(rulebook.Options{File: filepath.Join(own, "policy.toml"), Root: own})
	g := Checker{Book: book, Cwd: "/home/me/project", Home: "/home/me"}
	for _, preset := range []string{"hard", "build", "readonly"} {
		for _, line := range []string{"rm -rf " + own, "echo x > " + own + "/policy.toml", "cp a " + own + "/config.toml"} {
			a, err := g.Answer(Query{Cmd: line, Preset: preset})
			if err != nil || a.Verdict == "allow" {
				t.Errorf("%s: %s: %s %v", preset, line, a.Verdict, err)
			}
		}
	}
	a, err := g.Answer(Query{Cmd: "rm -rf " + own, Preset: "hard"})
	if err != nil || a.Verdict != "deny" {
		t.Errorf("%s %v", a.Verdict, err)
	}
}
