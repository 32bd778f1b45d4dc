package policycheck

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/policy/rulebook"
)

func judgeOf(t testing.TB) *Checker {
	return &Checker{Book: rulebook.Open(rulebook.Options{File: filepath.Join(t.TempDir(), "policy.toml")}), Home: "/home/me", MayBeRemote: true}
}

func batch(t testing.TB, in string) (out []batchAnswer) {
	t.Helper()
	var b bytes.Buffer
	if err := judgeOf(t).Batch(strings.NewReader(in), &b); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		var a batchAnswer
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		out = append(out, a)
	}
	return out
}

// FEATURES: R60 R61 R62
func TestBatch(t *testing.T) {
	for line, want := range map[string]string{
		`{"id":1,"cmd":"ls; rm -rf /","preset":"hard"}`:                   "1 deny",
		`{"id":"x","cmd":"git push","preset":"readonly"}`:                 `"x" ask`,
		`{"id":{"a":[1]},"cmd":"git log | cat","allow":["git log"]}`:      `{"a":[1]} ask`,
		`{"id":2,"cmd":"git log","allow":["git log"]}`:                    "2 allow",
		`{"id":3,"cmd":"git log","allow":["git log"],"preset":"off"}`:     "3 allow",
		`{"id":4,"cmd":"git logout","allow":["git log"],"preset":"hard"}`: "4 ask",
		`{"id":5,"cmd":"sudo curl x","deny":["curl"]}`:                    "5 deny",
		`{"id":6,"cmd":"curl x","deny":["curl"],"preset":"off"}`:          "6 deny",
		`{"cmd":"ls"}`: "null allow",
		`{"id":7,"cmd":"Get-ChildItem | Format-Volume","shell":"powershell","preset":"hard"}`: "7 deny",
		`{"id":8,"cmd":"a\u0000b"}`:          "8 ask",
		`{"id":9,"cmd":12}`:                  `9 ask "cmd" must be a text`,
		`{"id":10,"cmd":"ls","allow":"x"}`:   `10 ask "allow" must be a list of texts`,
		`{"id":11}`:                          `11 ask "cmd" missing`,
		`{"id":12,"cmd":"ls","preset":"so"}`: `12 ask no preset "so"`,
		`{"id":13,"cmd":"ls","deny":[""]}`:   `13 ask a rule to deny is empty`,
		`{"id":14,"cmd":"ls"`:                `14 ask not a JSON object`,
		`{"cmd":"ls","id":15`:                `15 ask not a JSON object`,
		`nonsense`:                           `null ask not a JSON object`,
		`[1]`:                                `null ask not a JSON object`,
		"{\"id\":16,\"cmd\":\"ls \xff\"}":    `16 ask line not valid UTF-8`,
		`{"id":17,"cmd":"` + strings.Repeat("((", 5<<20) + `"}`: "17 ask",
	} {
		// An invalid line does not affect the next one.
		out := batch(t, line+"\n\n"+`{"id":"next","cmd":"rm -rf /"}`)
		if len(out) != 2 || string(out[1].ID) != `"next"` || out[1].Verdict != "deny" {
			t.Fatalf("%.80s: %+v", line, out)
		}
		got := strings.TrimSpace(fmt.Sprintf("%s %s %s", out[0].ID, out[0].Verdict, out[0].Error))
		if !strings.HasPrefix(got, want) || (out[0].Error != "") != (strings.Count(want, " ") > 1) {
			t.Errorf("%.80s: %s, want %s", line, got, want)
		}
	}
}

func TestBatchLineTooLong(t *testing.T) {
	out := batch(t, `{"id":1,"cmd":"`+strings.Repeat("x", maxLine)+"\"}\n"+`{"id":2,"cmd":"ls"}`)
	if len(out) != 2 || out[0].Verdict != "ask" || !strings.Contains(out[0].Error, "send shorter lines") || out[1].Verdict != "allow" {
		t.Errorf("%.300v", out)
	}
}

func FuzzBatch(f *testing.F) {
	f.Add([]byte(`{"id":1,"cmd":"ls","allow":["ls"],"deny":["rm -r"],"preset":"build","shell":"fish"}`))
	f.Add([]byte("{\"id\":\n}\n\x00\xff"))
	g := judgeOf(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		var b bytes.Buffer
		if err := g.Batch(bytes.NewReader(in), &b); err != nil {
			t.Fatal(err)
		}
		asked := 0
		for line := range bytes.Lines(in) {
			if len(bytes.TrimSpace(line)) > 0 {
				asked++
			}
		}
		if got := bytes.Count(b.Bytes(), []byte("\n")); got != asked {
			t.Errorf("%d answers to %d lines", got, asked)
		}
	})
}

// TestBatch_AnswersAsSingleLine_InDirectory checks that a query about a directory gets the answer of a single line that
// is checked there: links are followed, and longterm's own files known.
//
// FAULT: G19
func TestBatch_AnswersAsSingleLine_InDirectory(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "p")
	for _, made := range []string{dir, filepath.Join(home, ".ssh")} {
		if err := os.Mkdir(made, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(home, ".ssh"), filepath.Join(dir, "out")); err != nil {
		t.Skip(err)
	}
	for line, want := range map[string]string{"echo x > out/k": "ask", "touch */k": "ask", "touch o*/k": "ask", "touch p*/k": "allow", "echo x > k": "allow", "cp a out/": "ask", "make": "allow"} {
		q := Query{Cmd: line, Preset: "build", Cwd: dir, Home: home}
		for _, elsewhere := range []bool{false, true} {
			g := judgeOf(t)
			g.MayBeRemote = elsewhere
			if a, err := g.Answer(q); err != nil || a.Verdict != want {
				t.Errorf("%s (batch: %v): %s, %v, want %s", line, elsewhere, a.Verdict, err, want)
			}
		}
	}
}
