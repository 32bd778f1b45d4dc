package fuzzy

import (
	"reflect"
	"testing"
)

// FEATURES: R76
func TestFind(t *testing.T) {
	items := []Item{{Text: "split right: start a session to the right", Names: "split-window -h"}, {Text: "sync: type into all panes"}, {Text: "theme: dark"}, {Text: "go to deploy-prod"},
		{Text: "kill: kill the session", Names: "terminate kill-pane"}, {Text: "help: these keys"}}
	for pattern, want := range map[string]Item{
		"split": items[0], "spr": items[0], "dark": items[2], "thda": items[2], "dp": items[3], "prod go": items[3], "KILL": items[4], "help": items[5],
		"split-w": items[0], "-h": items[0], "the term": items[4],
	} {
		hits := Find(pattern, items)
		if len(hits) == 0 || items[hits[0].Index] != want {
			t.Errorf("%q finds %v; want %q", pattern, hits, want)
		}
	}
	whole := []Item{{Text: "layout save: save panes under a name"}, {Text: "pick: pick a session from a list", Names: "find switch sessions choose-tree list-sessions ls"}, {Text: "help: these keys", Names: "list-keys lsk"}}
	if hits := Find("ls", whole); len(hits) != 3 || hits[0].Index != 1 { // a whole word ranks first
		t.Errorf("ls finds %v", hits)
	}
	for _, pattern := range []string{"zzz", "kp", "window-h", "erminate", "termk"} { // letters here and there in names, or within a word of them
		if hits := Find(pattern, items); len(hits) != 0 {
			t.Errorf("%s finds %v", pattern, hits)
		}
	}
	if hits := Find("", items); len(hits) != len(items) || hits[3].Index != 3 {
		t.Errorf("nothing finds %v", hits)
	}
}

func TestScore(t *testing.T) {
	if _, at, ok := Score("öx", Item{Text: "a Ö x"}); !ok || !reflect.DeepEqual(at, []int{2, 4}) {
		t.Errorf("%v %v", at, ok)
	}
	for _, pattern := range []string{"sa", "ht", "sese"} { // scattered letters
		if _, at, ok := Score(pattern, Item{Text: "show the session"}); ok {
			t.Errorf("%q: %v", pattern, at)
		}
	}
	better, _, _ := Score("log", Item{Text: "web-log"})
	worse, _, _ := Score("log", Item{Text: "lo-big"})
	if better <= worse {
		t.Errorf("letters in a row score %d, others %d", better, worse)
	}
}

func FuzzScore(f *testing.F) {
	f.Add("a b", "xaİb", "b c")
	f.Fuzz(func(t *testing.T, pattern, text, names string) {
		_, at, ok := Score(pattern, Item{text, names})
		n := len([]rune(text)) + 1 + len([]rune(names))
		for i, x := range at {
			if !ok || x < 0 || x >= n || i > 0 && at[i-1] >= x {
				t.Fatalf("%q in %q and %q: %v", pattern, text, names, at)
			}
		}
	})
}
