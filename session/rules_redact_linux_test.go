package session

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/longterm-dev/longterm/session/redact"
	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/session/ring"
)

// TestRules_RevealNoSecret checks that rules of an agent reveal no secrets: neither by a match nor by the matched text.
// Text that is only the start of a secret matches like any other.
//
// FAULT: G2
//
// FEATURES: R110
func TestRules_RevealNoSecret(t *testing.T) {
	for name, said := range map[string]string{
		"a line":         "token hunter22secret\r\n",
		"an open line":   "token hunter22secret",
		"its beginning":  "token hunte",
		"with detours":   "token huX\bnter22secret\r\n",
		"over rows":      strings.Repeat("0123456789", 7) + "2345 hunter22secret\r\n",
		"a token":        "token ghp_hunter7C42F292c69hunter2E7710c838347\r\n",
		"a private key":  "-----BEGIN PRIVATE KEY-----\r\nhunter22AAAA\r\nhunter23BBBB\r\n-----END PRIVATE KEY-----\r\n",
		"behind a match": "token hunter22secret of hunter22secret\r\n",
	} {
		for _, on := range []respond.Target{respond.OnOutput, respond.OnScreen, respond.OnCursor} {
			synctest.Test(t, func(t *testing.T) { testRulesRevealNoSecret(t, name, said, on) })
		}
	}
}

// testRulesRevealNoSecret prints a text piece by piece and checks the rules' matches.
func testRulesRevealNoSecret(t *testing.T, name, said string, on respond.Target) {
	t.Helper()
	vault, err := redact.NewVault(redact.NewKey(), nil, redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	vault.Learn("hunter22secret")
	var fired []RuleMatch
	d := newTTYDevice(t, t.TempDir(), ring.Local(ring.DefaultSize), nil, func(c *Config) {
		c.Vault, c.OnRuleMatch = vault, func(f RuleMatch) { fired = append(fired, f) }
	})
	reply := []respond.Reply{{Kind: respond.ReplyText, Value: "${0}"}}
	d.addRules(t, respond.Rule{Name: "a user's", Regexp: `h[u]nt`, On: on, Reply: reply},
		respond.Rule{Name: "a guess", Text: "hunte", On: on, Reply: reply, Redacted: true},
		respond.Rule{Name: "all", Regexp: `(?:token|of) \S+|[0-9]{4} .*|[A-Za-z0-9]{12,}`, On: on, Reply: reply, Redacted: true})
	step := 1
	if name == "a token" || name == "with detours" { // it is not a secret before it is long enough
		step = len(said)
	}
	for i := 0; i < len(said); i += step {
		d.fakeDevice.print(d.s, said[i:i+step])
	}
	waitSettled()
	seen, guessed := false, false
	for _, f := range fired {
		switch {
		case name == "its beginning":
			seen, guessed = true, guessed || f.Name != "a user's" && strings.Contains(f.Match, "hunte")
		case f.Name == "a user's":
			seen = true
		case f.Name == "a guess" || strings.Contains(f.Match, "hunt"):
			t.Errorf("%s, %s: %s matched %q", name, on, f.Name, f.Match)
		}
	}
	if guessed != (name == "its beginning") {
		t.Errorf("%s, %s: start of the secret matched: %v", name, on, guessed)
	}
	if step > 1 || on == respond.OnOutput { // the first rule has read all of it
		return
	}
	if onRow := !strings.HasSuffix(said, "\n") || on == respond.OnScreen; !seen && onRow {
		t.Errorf("%s, %s: a user's rule does not match", name, on)
	}
}

// TestRedactedRules_MatchSurroundings checks that masked text, and the text around it, can be matched at its position.
func TestRedactedRules_MatchSurroundings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		vault, err := redact.NewVault(redact.NewKey(), nil, redact.Options{})
		if err != nil {
			t.Fatal(err)
		}
		vault.Learn("hünter22secret")
		var fired []RuleMatch
		d := newTTYDevice(t, t.TempDir(), ring.Local(ring.DefaultSize), nil, func(c *Config) {
			c.Vault, c.OnRuleMatch = vault, func(f RuleMatch) { fired = append(fired, f) }
		})
		d.addRules(t, respond.Rule{Name: "output", Regexp: `is \*+, go on\? $`, Redacted: true, Reply: enterLine("y")},
			respond.Rule{Name: "screen", Text: "go on?", On: respond.OnScreen, Region: &respond.Region{Left: 10}, Redacted: true, Reply: enterLine("y")})
		d.print("it is hünter22secret, go on? ")
		waitSettled()
		var got []string
		for _, f := range fired {
			got = append(got, f.Name+": "+f.Match)
		}
		if want := "output: is ***************, go on? ; screen: go on?"; strings.Join(got, "; ") != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}
