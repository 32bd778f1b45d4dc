package wait

import (
	"regexp"
	"testing"

	"github.com/longterm-dev/longterm/session/redact"
)

// Waiting for a text tells nothing of a secret: neither on the screen, nor in the title, nor while it is printed piece by
// piece. What is only the beginning of one is matched like any other text.
//
// FAULT: G2
//
// FEATURES: R110
func TestWaitIsNoOracle(t *testing.T) {
	v, err := redact.NewVault(redact.NewKey(), nil, redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v.Learn("hunter22secret")
	for name, said := range map[string]string{
		"a line":           "token hunter22secret\r\n",
		"an open line":     "token hunter22secret",
		"its beginning":    "token hunte",
		"another text":     "token huntex",
		"with detours":     "token huX\bnter22secret\r\n",
		"over rows":        "0123456789012345678901234567 token hunter22secret\r\n",
		"drawn":            "\x1b[?1049h\x1b[3;5Hter22secret\x1b[3;1H\x1b[2Ctohun\x1b[3;1Hoken",
		"a title":          "\x1b]0;token hunter22secret\x07",
		"a token":          "token ghp_hunter7C42F292c69hunter2E7710c838347\r\n",
		"a private key":    "-----BEGIN PRIVATE KEY-----\r\nhunter22AAAA\r\nhunter23BBBB\r\n-----END PRIVATE KEY-----\r\n",
		"a key, not ended": "-----BEGIN PRIVATE KEY-----\r\nhunte",
	} {
		for _, c := range []Cond{
			{Kind: CondText, Text: "hunte"}, {Kind: CondRegexp, Regexp: regexp.MustCompile(`h[u]nt`)}, {Kind: CondTitle, Text: "hunt"},
		} {
			h := newHost()
			seen, blind := h.wait(t, For{Conds: []Cond{c}}), h.wait(t, For{Conds: []Cond{c}, Redactor: redact.NewStreamRedactor(v.Set())})
			late := func() *Waiter { return h.wait(t, For{Conds: []Cond{c}, Redactor: redact.NewStreamRedactor(v.Set())}) }
			step := 1              // as slowly as can be: what is there so far is looked at each time
			if name == "a token" { // it is none before it is long enough
				step = len(said)
			}
			for i := 0; i < len(said); i += step {
				h.says(said[i : i+step])
				h.view.Title = ""
				if name == "a title" && i == len(said)-1 {
					h.view.Title = "token hunter22secret"
					h.set.Check()
				}
			}
			if _, over := h.over[blind]; over && h.view.Title == "" {
				t.Errorf("%s, %s: told before it has settled", name, c.Kind)
			}
			if after, ok := h.set.Next(); !ok && c.Kind != CondTitle || after > redact.Settle {
				t.Errorf("%s, %s: settles in %v, %v", name, c.Kind, after, ok)
			}
			h.view.Now = h.view.Now.Add(redact.Settle)
			h.set.Check()
			again := late()
			if name == "its beginning" || name == "another text" {
				for _, w := range []*Waiter{blind, again} {
					if _, over := h.over[w]; over != (c.Kind != CondTitle) {
						t.Errorf("%s, %s: told %v", name, c.Kind, over)
					}
				}
				continue
			}
			if _, over := h.over[seen]; !over && (c.Kind == CondTitle) == (name == "a title") && name != "drawn" {
				t.Errorf("%s, %s: nobody sees it", name, c.Kind)
			}
			if r, over := h.over[blind]; over && name != "drawn" {
				t.Errorf("%s, %s: told %+v", name, c.Kind, r)
			}
			if r, over := h.over[again]; over {
				t.Errorf("%s, %s: told later %+v", name, c.Kind, r)
			}
		}
	}
	h := newHost()
	h.says("token hunter22secret")
	h.view.Now = h.view.Now.Add(redact.Settle)
	gone := h.wait(t, For{Conds: []Cond{{Kind: CondGone, Text: "hunterXX"}}, Redactor: redact.NewStreamRedactor(v.Set())})
	other := h.wait(t, For{Conds: []Cond{{Kind: CondGone, Text: "hunter22"}}, Redactor: redact.NewStreamRedactor(v.Set())})
	if _, over := h.over[gone]; !over {
		t.Error("what is not there is not gone")
	}
	if _, over := h.over[other]; !over {
		t.Error("what is gone or not tells a guess")
	}
	shown := h.wait(t, For{Conds: []Cond{{Kind: CondText, Text: "token ****"}}, Redactor: redact.NewStreamRedactor(v.Set())})
	if _, over := h.over[shown]; !over {
		t.Error("what is shown is not found")
	}
}

// A secret that begins above the screen is none that can be guessed by what of it is on the screen.
//
// FEATURES: R110
func TestWaitIsNoOracleBelowTheTop(t *testing.T) {
	v, err := redact.NewVault(redact.NewKey(), nil, redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v.Learn("hunter22secret")
	h := newHost()
	h.says("0123456789012345678901234567890 hunter22secret of it\r\n1\r\n2\r\n3\r\n4")
	h.view.Now = h.view.Now.Add(redact.Settle)
	for guess, told := range map[string]bool{"ecret of": false, "of it": true} {
		c := []Cond{text(guess)}
		if _, over := h.over[h.wait(t, For{Conds: c})]; !over {
			t.Errorf("%q: nobody sees it", guess)
		}
		if _, over := h.over[h.wait(t, For{Conds: c, Redactor: redact.NewStreamRedactor(v.Set())})]; over != told {
			t.Errorf("%q: told %v", guess, over)
		}
	}
}
