package fuzzy

import (
	"reflect"
	"testing"
)

// FEATURES: R76
func TestFind(t *testing.T) {
	items := []string{"split right: start a session to the right", "sync: type into all panes", "theme: dark", "go to deploy-prod", "kill: kill the session", "help: these keys"}
	for pattern, want := range map[string]string{
		"split": items[0], "spr": items[0], "dark": items[2], "thda": items[2], "dp": items[3], "prod go": items[3], "KILL": items[4], "help": items[5],
	} {
		hits := Find(pattern, items)
		if len(hits) == 0 || items[hits[0].Index] != want {
			t.Errorf("%q finds %v; want %q", pattern, hits, want)
		}
	}
	if hits := Find("zzz", items); len(hits) != 0 {
		t.Errorf("zzz finds %v", hits)
	}
	if hits := Find("", items); len(hits) != len(items) || hits[3].Index != 3 {
		t.Errorf("nothing finds %v", hits)
	}
}

func TestScore(t *testing.T) {
	if _, at, ok := Score("öx", "a Ö x"); !ok || !reflect.DeepEqual(at, []int{2, 4}) {
		t.Errorf("%v %v", at, ok)
	}
	for _, pattern := range []string{"sa", "ht", "sese"} { // scattered letters
		if _, at, ok := Score(pattern, "show the session"); ok {
			t.Errorf("%q: %v", pattern, at)
		}
	}
	better, _, _ := Score("log", "web-log")
	worse, _, _ := Score("log", "lo-big")
	if better <= worse {
		t.Errorf("letters in a row score %d, others %d", better, worse)
	}
}

func FuzzScore(f *testing.F) {
	f.Add("a b", "xaİb")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		_, at, ok := Score(pattern, text)
		n := len([]rune(text))
		for i, x := range at {
			if !ok || x < 0 || x >= n || i > 0 && at[i-1] >= x {
				t.Fatalf("%q in %q: %v", pattern, text, at)
			}
		}
	})
}
