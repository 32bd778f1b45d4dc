package bench

import (
	"slices"
	"testing"
)

// TestAgentLines_VerdictsAreRight checks that the presets stop each line that they must stop, and ask about few of the
// others.
//
// FAULT: H7
// FEATURES: R60 R61
func TestAgentLines_VerdictsAreRight(t *testing.T) {
	r, err := benchPolicy("")
	if err != nil {
		t.Fatal(err)
	}
	most := map[string]float64{"hard": 0.01, "build": 0.12}
	for _, tier := range r.Tiers {
		if rate := float64(tier.FalseAskings) / float64(tier.Total); rate > most[tier.Tier] || tier.Total < 300 {
			t.Errorf("%s: %d false askings of %d (%.1f %%), at most %.0f %% are in order", tier.Tier, tier.FalseAskings, tier.Total, 100*rate, 100*most[tier.Tier])
		}
	}
	for _, w := range r.Wrong {
		if !slices.Contains(w.Accept, "allow") || w.Got == "deny" {
			t.Errorf("%s in %s under %s: %s, not %v: %s", w.Name, w.Shell, w.Policy, w.Got, w.Accept, w.Cmd)
		}
	}
}

// TestAgentLines_AreComplete checks that the corpus has enough lines for each shell, each with a unique name, and a
// reason for each verdict that is not allow.
func TestAgentLines_AreComplete(t *testing.T) {
	c, err := parseAgentLines(agentCorpus)
	if err != nil {
		t.Fatal(err)
	}
	names, inShell, runs := map[string]bool{}, map[string]int{}, 0
	for _, l := range c.Lines {
		if names[l.Name] {
			t.Errorf("%s is there twice", l.Name)
		}
		names[l.Name] = true
		for _, sh := range l.shells() {
			if inShell[sh]++; !slices.Contains(agentLineShells, sh) {
				t.Errorf("%s: shell %q", l.Name, sh)
			}
		}
		if (l.verdict("hard") != "allow" || l.verdict("build") != "allow") != (l.Why != "") {
			t.Errorf("%s: a reason belongs to each verdict that is not allow, and to no other", l.Name)
		}
		if l.verdict("hard") != "allow" && l.canRun() {
			t.Errorf("%s: a line that is stopped under hard must not be run", l.Name)
		}
		if l.canRun() {
			runs++
		}
	}
	if runs < 300 || inShell["bash"] < 300 || inShell["zsh"] < 300 || inShell["dash"] < 300 || inShell["fish"] < 200 {
		t.Errorf("%d lines are run, by shell %v", runs, inShell)
	}
}
