package shell

import (
	"slices"
	"strings"
	"testing"
)

// TestSpecs_AreComplete checks that each row of specs is complete: names, options, a script, and the properties of its
// lines.
func TestSpecs_AreComplete(t *testing.T) {
	seen := map[string]Kind{}
	for k, s := range specs {
		if k == Unknown {
			continue
		}
		if len(s.executables) == 0 || len(s.profiles) == 0 || s.quality == "" || len(s.scriptFiles) == 0 || s.parseOptions == nil || s.buildArgv == nil {
			t.Errorf("%s: got an incomplete spec %+v", k, s)
		}
		for _, n := range s.executables {
			if other, twice := seen[n]; twice {
				t.Errorf("%s is %s and %s", n, k, other)
			}
			seen[n] = k
			if got := Detect([]string{"/bin/" + n}); got != k {
				t.Errorf("%s is %q, want %q", n, got, k)
			}
		}
		for _, p := range s.profiles {
			if got := ProfileExecutables(p[0]); !slices.Equal(got, p) || Detect(got[:1]) == Unknown {
				t.Errorf("profile %s: got %q, want %q", p[0], got, p)
			}
		}
		if (s.resumeText == "") != (s.sourceCommand == "") {
			t.Errorf("%s: got no command that reads a file, or no file", k)
		}
		if s.repair != "" && !strings.HasPrefix(RepairLine(k), " __longterm_was=$?; ") {
			t.Errorf("%s: %q", k, RepairLine(k))
		}
	}
	if s := Kind("another").Spec(); s != Unknown.Spec() || s.buildArgv != nil || !s.HasEditor || !s.SupportsPaste {
		t.Errorf("%+v", s)
	}
	if ProfileExecutables("none") != nil {
		t.Error("invalid name: got a kind")
	}
}

// TestSpecs_LineProperties checks the properties of lines in each shell.
func TestSpecs_LineProperties(t *testing.T) {
	for _, c := range []struct {
		what string
		is   func(*Spec) bool
		want []Kind
	}{
		{"pastes", func(s *Spec) bool { return s.SupportsPaste }, []Kind{Unknown, Bash, Fish, Pwsh, Zsh}},
		{"edits", func(s *Spec) bool { return s.HasEditor }, []Kind{Unknown, Bash, Fish, Ksh, Mksh, Pwsh, Zsh}},
		{"needs a sane terminal", func(s *Spec) bool { return s.NeedsSaneTerminal }, []Kind{Ksh, Dash}},
		{"reads keys at its prompt", func(s *Spec) bool { return s.ReadsKeysAtPrompt }, []Kind{Fish, Ksh, Mksh}},
		{"expands", func(s *Spec) bool { return s.expandsHistory }, []Kind{Bash, Zsh}},
		{"drops tabs", func(s *Spec) bool { return s.DropsTabs }, []Kind{Fish}},
		{"keeps what is incomplete", func(s *Spec) bool { return s.KeepsIncompleteLine }, []Kind{Fish}},
		{"says nothing of an interrupt", func(s *Spec) bool { return s.InterruptIsSilent }, []Kind{Fish}},
		{"reads briefly", func(s *Spec) bool { return s.HidesBriefReads }, []Kind{Ksh}},
	} {
		var got []Kind
		for k, s := range specs {
			if c.is(s) {
				got = append(got, k)
			}
		}
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}
