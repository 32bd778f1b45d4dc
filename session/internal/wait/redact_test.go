package wait

import (
	"regexp"
	"testing"

	"github.com/longterm-dev/longterm/session/redact"
)

// TestWait_RevealsNoSecret checks that a wait for a text reveals no part of a secret: neither on the screen, nor in the
// title, nor while it is printed piece by piece. Text that only starts like a secret matches like any other.
//
// FAULT: G2
//
// FEATURES: R110
func TestWait_RevealsNoSecret(t *testing.T) {
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
			seen, blind := h.wait(t, Spec{Conds: []Cond{c}}), h.wait(t, Spec{Conds: []Cond{c}, Redactor: redact.NewStreamRedactor(v.Set())})
			late := func() *Waiter { return h.wait(t, Spec{Conds: []Cond{c}, Redactor: redact.NewStreamRedactor(v.Set())}) }
			step := 1              // the smallest pieces, matched after each
			if name == "a token" { // incomplete ones are not recognized as tokens
				step = len(said)
			}
			for i := 0; i < len(said); i += step {
				h.print(said[i : i+step])
				h.view.Title = ""
				if name == "a title" && i == len(said)-1 {
					h.view.Title = "token hunter22secret"
					h.set.Check()
				}
			}
			if _, over := h.results[blind]; over && h.view.Title == "" {
				t.Errorf("%s, %s: matched before the output has settled", name, c.Kind)
			}
			if after, ok := h.set.NextDue(); !ok && c.Kind != CondTitle || after > redact.SettleTime {
				t.Errorf("%s, %s: settles in %v, %v", name, c.Kind, after, ok)
			}
			h.view.Now = h.view.Now.Add(redact.SettleTime)
			h.set.Check()
			again := late()
			if name == "its beginning" || name == "another text" {
				for _, w := range []*Waiter{blind, again} {
					if _, over := h.results[w]; over != (c.Kind != CondTitle) {
						t.Errorf("%s, %s: ended %v", name, c.Kind, over)
					}
				}
				continue
			}
			if _, over := h.results[seen]; !over && (c.Kind == CondTitle) == (name == "a title") && name != "drawn" {
				t.Errorf("%s, %s: no match without redaction", name, c.Kind)
			}
			if r, over := h.results[blind]; over && name != "drawn" {
				t.Errorf("%s, %s: matched %+v", name, c.Kind, r)
			}
			if r, over := h.results[again]; over {
				t.Errorf("%s, %s: matched later %+v", name, c.Kind, r)
			}
		}
	}
	h := newHost()
	h.print("token hunter22secret")
	h.view.Now = h.view.Now.Add(redact.SettleTime)
	gone := h.wait(t, Spec{Conds: []Cond{{Kind: CondAbsent, Text: "hunterXX"}}, Redactor: redact.NewStreamRedactor(v.Set())})
	other := h.wait(t, Spec{Conds: []Cond{{Kind: CondAbsent, Text: "hunter22"}}, Redactor: redact.NewStreamRedactor(v.Set())})
	if _, over := h.results[gone]; !over {
		t.Error("an absent text did not match")
	}
	if _, over := h.results[other]; !over {
		t.Error("the absence of a part reveals the secret")
	}
	shown := h.wait(t, Spec{Conds: []Cond{{Kind: CondText, Text: "token ****"}}, Redactor: redact.NewStreamRedactor(v.Set())})
	if _, over := h.results[shown]; !over {
		t.Error("masked text did not match")
	}
}

// TestWait_RevealsNoSecret_StartedAboveScreen checks a secret that starts above the screen and continues on it.
//
// FEATURES: R110
func TestWait_RevealsNoSecret_StartedAboveScreen(t *testing.T) {
	v, err := redact.NewVault(redact.NewKey(), nil, redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v.Learn("hunter22secret")
	h := newHost()
	h.print("0123456789012345678901234567890 hunter22secret of it\r\n1\r\n2\r\n3\r\n4")
	h.view.Now = h.view.Now.Add(redact.SettleTime)
	for guess, told := range map[string]bool{"ecret of": false, "of it": true} {
		c := []Cond{text(guess)}
		if _, over := h.results[h.wait(t, Spec{Conds: c})]; !over {
			t.Errorf("%q: no match without redaction", guess)
		}
		if _, over := h.results[h.wait(t, Spec{Conds: c, Redactor: redact.NewStreamRedactor(v.Set())})]; over != told {
			t.Errorf("%q: ended %v, want %v", guess, over, told)
		}
	}
}
