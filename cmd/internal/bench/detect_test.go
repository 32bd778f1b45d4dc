//go:build unix

package bench

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestCorpus checks that the corpus has a few hundred situations of every kind, each with a unique name.
//
// FEATURES: R42
func TestCorpus(t *testing.T) {
	list, err := parseCorpus(detectCorpus)
	if err != nil {
		t.Fatal(err)
	}
	names, kinds, runs := map[string]bool{}, map[string]int{}, 0
	for i := range list {
		s := &list[i]
		if names[s.name] {
			t.Errorf("%s is there twice", s.name)
		}
		names[s.name] = true
		kinds[s.category]++
		runs += len(s.shells)
		if s.category == "" || len(s.shells) == 0 || s.takes > 3*time.Second {
			t.Errorf("%+v", s)
		}
		for _, sh := range s.shells {
			if !slices.Contains(detectShells, sh) {
				t.Errorf("%s: shell %q", s.name, sh)
			}
		}
		if s.input != "" && s.answer == "" {
			t.Errorf("%s prompts and has no answer", s.name)
		}
	}
	if len(list) < 300 || runs < 1500 {
		t.Errorf("%d situations, %d runs", len(list), runs)
	}
	for _, kind := range []string{"password", "confirm", "menu", "text", "repl", "screen", "prompt", "silent", "parked", "forged", "hostile", "relay", "jobs", "late", "wide", "colour", "small", "raw"} {
		if kinds[kind] < 2 {
			t.Errorf("%d situations of the category %s", kinds[kind], kind)
		}
	}
}

func TestParseSituation(t *testing.T) {
	s, err := parseSituation("a size=20x1 needs=vim,git | all -ksh | echo x | cat⏎y | 3 | 70 | input=text => a<Enter> => ^x$")
	if err != nil {
		t.Fatal(err)
	}
	if s.name != "a" || s.cols != 20 || s.rows != 1 || strings.Join(s.needs, " ") != "vim git" || slices.Contains(s.shells, "ksh") ||
		len(s.shells) != 5 || s.line != "echo x | cat\ny" || *s.exit != 3 || s.takes != 70*time.Millisecond || s.input != "text" ||
		s.answer != "a<Enter>" || !s.output.MatchString("x") {
		t.Errorf("%+v", s)
	}
	for _, bad := range []string{"", "a | all | x", " | all | x | 0 | 0 |", "a b=c | all | x | 0 | 0 |", "a size=x | all | x | 0 | 0 |", "a | all | x | z | 0 |"} {
		if _, err := parseSituation(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// FEATURES: R42
func TestDetectTable(t *testing.T) {
	list := []situation{{category: "menu"}, {category: "text"}}
	r := &detectReport{Shells: []string{"bash", "fish"}, Table: []detectCell{
		{"text", "fish", 2, 1, 1}, {"menu", "bash", 3, 3, 0}, {"text", "bash", 4, 4, 0},
	}}
	r.sortTable(list)
	var b bytes.Buffer
	r.writeTable(&b)
	var rows []string
	for line := range strings.Lines(b.String()) {
		rows = append(rows, strings.Join(strings.Fields(line), " "))
	}
	want := []string{"bash fish false alarms", "menu 3/3 - 0", "text 4/4 1/2 1"}
	if !slices.Equal(rows, want) {
		t.Errorf("%q", rows)
	}
}

func TestShortCorpus(t *testing.T) {
	list, err := parseCorpus(detectCorpus)
	if err != nil {
		t.Fatal(err)
	}
	all := len(list)
	o := detectOptions{short: true}
	if short := o.choose(list); len(short) == 0 || len(short) > all/2 {
		t.Errorf("%d of %d", len(short), all)
	}
}
