package shell

import (
	"slices"
	"strings"
	"testing"
)

// A shell is a whole row: names by which it is known, how it is asked for, a script, and how its lines
// are typed.
func TestSpecs(t *testing.T) {
	seen := map[string]Kind{}
	for k, s := range specs {
		if k == Unknown {
			continue
		}
		if len(s.names) == 0 || len(s.profiles) == 0 || s.quality == "" || len(s.files) == 0 || s.parse == nil || s.plan == nil {
			t.Errorf("%s: a part is missing: %+v", k, s)
		}
		for _, n := range s.names {
			if other, twice := seen[n]; twice {
				t.Errorf("%s is %s and %s", n, k, other)
			}
			seen[n] = k
			if got := Detect([]string{"/bin/" + n}); got != k {
				t.Errorf("%s is %q, want %q", n, got, k)
			}
		}
		for _, p := range s.profiles {
			if got := Programs(p[0]); !slices.Equal(got, p) || Detect(got[:1]) == Unknown {
				t.Errorf("%s stands for %q, want %q", p[0], got, p)
			}
		}
		if (s.again == "") != (s.source == "") {
			t.Errorf("%s: its file is read by nothing, or there is none", k)
		}
		if s.repair != "" && !strings.HasPrefix(Repair(k), " __longterm_was=$?; ") {
			t.Errorf("%s: %q", k, Repair(k))
		}
	}
	if s := Kind("another").Spec(); s != Unknown.Spec() || s.plan != nil || !s.Edits || !s.Pastes {
		t.Errorf("%+v", s)
	}
	if Programs("none") != nil {
		t.Error("a name that is none")
	}
}

// What is special about lines in each shell.
func TestSpecOfLines(t *testing.T) {
	for _, c := range []struct {
		what string
		is   func(*Spec) bool
		want []Kind
	}{
		{"pastes", func(s *Spec) bool { return s.Pastes }, []Kind{Unknown, Bash, Fish, Pwsh, Zsh}},
		{"edits", func(s *Spec) bool { return s.Edits }, []Kind{Unknown, Bash, Fish, Ksh, Mksh, Pwsh, Zsh}},
		{"needs a sane terminal", func(s *Spec) bool { return s.NeedsSane }, []Kind{Ksh, Dash}},
		{"reads keys at its prompt", func(s *Spec) bool { return s.RawAtPrompt }, []Kind{Fish, Ksh, Mksh}},
		{"expands", func(s *Spec) bool { return s.expands }, []Kind{Bash, Zsh}},
		{"drops tabs", func(s *Spec) bool { return s.DropsTabs }, []Kind{Fish}},
		{"keeps what is incomplete", func(s *Spec) bool { return s.KeepsIncomplete }, []Kind{Fish}},
		{"says nothing of an interrupt", func(s *Spec) bool { return s.MuteInterrupt }, []Kind{Fish}},
		{"reads briefly", func(s *Spec) bool { return s.ReadsBriefly }, []Kind{Ksh}},
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
