package session

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/session/secrets"
)

// Rules of an agent tell nothing of secrets: neither by a match nor by what they matched. What is only the beginning of one
// is matched like any other text.
//
// FAULT: G2
//
// FEATURES: R110
func TestRulesAreNoOracle(t *testing.T) {
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
			synctest.Test(t, func(t *testing.T) { testRulesAreNoOracle(t, name, said, on) })
		}
	}
}

func testRulesAreNoOracle(t *testing.T, name, said string, on respond.Target) {
	t.Helper()
	vault, err := secrets.NewVault(secrets.NewKey(), nil, secrets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	vault.Learn("hunter22secret")
	var fired []Firing
	d := newAsking(t, t.TempDir(), ring.Local(ring.DefaultSize), nil, func(c *Config) {
		c.Known, c.Fired = vault, func(f Firing) { fired = append(fired, f) }
	})
	reply := []respond.Reply{{Kind: respond.ReplyText, Value: "${0}"}}
	d.add(t, respond.Rule{Name: "a person's", Regexp: `h[u]nt`, On: on, Reply: reply},
		respond.Rule{Name: "a guess", Text: "hunte", On: on, Reply: reply, Veiled: true},
		respond.Rule{Name: "all", Regexp: `(?:token|of) \S+|[0-9]{4} .*|[A-Za-z0-9]{12,}`, On: on, Reply: reply, Veiled: true})
	step := 1
	if name == "a token" || name == "with detours" { // it is none before it is long enough
		step = len(said)
	}
	for i := 0; i < len(said); i += step {
		d.print(d.s, said[i:i+step])
	}
	settled()
	seen, guessed := false, false
	for _, f := range fired {
		switch {
		case name == "its beginning":
			seen, guessed = true, guessed || f.Name != "a person's" && strings.Contains(f.Match, "hunte")
		case f.Name == "a person's":
			seen = true
		case f.Name == "a guess" || strings.Contains(f.Match, "hunt"):
			t.Errorf("%s, %s: %s fired at %q", name, on, f.Name, f.Match)
		}
	}
	if guessed != (name == "its beginning") {
		t.Errorf("%s, %s: a beginning is matched: %v", name, on, guessed)
	}
	if step > 1 || on == respond.OnOutput { // the rule that comes first has read all of it
		return
	}
	if onRow := !strings.HasSuffix(said, "\n") || on == respond.OnScreen; !seen && onRow {
		t.Errorf("%s, %s: a person's rule does not match", name, on)
	}
}

// What is shown of a secret can be matched, and what stands around it, with the places that it really has.
func TestVeiledRulesSeeTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		vault, err := secrets.NewVault(secrets.NewKey(), nil, secrets.Options{})
		if err != nil {
			t.Fatal(err)
		}
		vault.Learn("hünter22secret")
		var fired []Firing
		d := newAsking(t, t.TempDir(), ring.Local(ring.DefaultSize), nil, func(c *Config) {
			c.Known, c.Fired = vault, func(f Firing) { fired = append(fired, f) }
		})
		d.add(t, respond.Rule{Name: "output", Regexp: `is \*+, go on\? $`, Veiled: true, Reply: enterLine("y")},
			respond.Rule{Name: "screen", Text: "go on?", On: respond.OnScreen, Region: &respond.Region{Left: 10}, Veiled: true, Reply: enterLine("y")})
		d.says("it is hünter22secret, go on? ")
		settled()
		var got []string
		for _, f := range fired {
			got = append(got, f.Name+": "+f.Match)
		}
		if want := "output: is ***************, go on? ; screen: go on?"; strings.Join(got, "; ") != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}
