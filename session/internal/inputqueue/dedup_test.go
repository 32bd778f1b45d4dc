package inputqueue

import (
	"fmt"
	"testing"

	"github.com/longterm-dev/longterm/session/respond"
)

var once = Typed{Cursor: 7, Echo: respond.EchoOff}

// Input is known by its id: at once, from the journal's mark, from the file, from the ring's note.
//
// FAULT: A23
// FEATURES: R90
func TestDedupKnowsInput(t *testing.T) {
	var first Dedup
	mark := first.Remember("an-id", once)
	state, err := first.State()
	if err != nil || len(mark) == 0 || mark[0] != byte(MarkID) {
		t.Fatalf("mark %q, %v", mark, err)
	}
	for name, from := range map[string]func(d *Dedup){
		"remembered": func(d *Dedup) { d.Remember("an-id", once) },
		"journal":    func(d *Dedup) { d.Replay(mark, once.Cursor) },
		"file": func(d *Dedup) {
			if err := d.Resume(state); err != nil {
				t.Error(err)
			}
		},
		"ring": func(d *Dedup) { d.SetUnfinished(InputNote("an-id", once)) },
	} {
		var d Dedup
		if _, was, _ := d.Before("an-id"); was {
			t.Errorf("%s: known before", name)
		}
		from(&d)
		got, was, again := d.Before("an-id")
		if !was || got != once || (name == "ring") != (len(again) > 0) {
			t.Errorf("%s: %+v, %v, mark %q", name, got, was, again)
		}
		if got, was, again = d.Before("an-id"); !was || got != once || len(again) > 0 {
			t.Errorf("%s, again: %+v, %v, mark %q", name, got, was, again)
		}
		if _, was, _ := d.Before("another"); was {
			t.Errorf("%s: knows another id", name)
		}
	}
}

func TestDedupState(t *testing.T) {
	var d Dedup
	if b, err := d.State(); b != nil || err != nil {
		t.Errorf("nothing to write down: %q, %v", b, err)
	}
	if d.Remember("", once) != nil {
		t.Error("input without an id is not remembered")
	}
	for i := range 2 * maxInputs {
		d.Remember(fmt.Sprint(i), once)
	}
	if _, was, _ := d.Before("0"); was || len(d.inputs) != maxInputs {
		t.Errorf("%d are remembered", len(d.inputs))
	}
	d.MarkSaved()
	if b, _ := d.State(); b != nil {
		t.Error("it is in its file")
	}
	d.Remember("more", once)
	if b, _ := d.State(); b == nil {
		t.Error("there is more")
	}
	if d.Resume([]byte("{")) == nil {
		t.Error("a damaged file is no error")
	}
}

// What a client numbers is known for as long as it is, whatever others type, and all before its newest; so it is after
// a restart. Others' ids are themselves alone.
//
// FEATURES: R90, R94
func TestDedupOfNumberedInput(t *testing.T) {
	const client, lower = "01234567-89ab-cdef-0123-456789abcdef", "build"
	var d Dedup
	var marks [][]byte
	for n := range 100 {
		if mark := d.Remember(fmt.Sprint(client, ".", n), once); len(mark) > 0 {
			marks = append(marks, mark)
		}
	}
	d.Remember(lower+".7", once)
	for i := range maxInputs - 1 {
		d.Remember(fmt.Sprint("other", i), Typed{Of: 5})
	}
	check := func(name string, d *Dedup) {
		t.Helper()
		for id, want := range map[string]bool{
			client + ".0": true, client + ".98": true, client + ".99": true, client + ".100": false, client + ".x": false, client: false,
			lower + ".6": false,
		} {
			if typed, was, mark := d.Before(id); was != want || len(mark) > 0 || !typed.Same(0) {
				t.Errorf("%s: %s: %+v, %v", name, id, typed, was)
			}
		}
		if typed, was, _ := d.Before(client + ".3"); !was || typed.Same(12345) {
			t.Errorf("%s: other input under a number that was passed: %+v, %v", name, typed, was)
		}
	}
	check("remembered", &d)
	if _, was, _ := d.Before(lower + ".7"); !was {
		t.Error("a client's takes no other's place")
	}
	state, err := d.State()
	if err != nil {
		t.Fatal(err)
	}
	var file, journal Dedup
	if err := file.Resume(state); err != nil {
		t.Fatal(err)
	}
	check("file", &file)
	for _, mark := range append(marks, marks...) { // the file may have them, too
		journal.Replay(mark, once.Cursor)
	}
	check("journal", &journal)
	for i := range 2 * maxClients {
		d.Remember(fmt.Sprintf("%s%03d.0", client[:keyLen-3], i), once)
	}
	if _, was, _ := d.Before(client + ".99"); was || len(d.inputs) != maxInputs+maxClients {
		t.Errorf("of %d clients %d inputs are remembered", 2*maxClients, len(d.inputs))
	}
}

// What a client says again after a break is as much as it typed in some seconds, and is known as a whole: also to the
// next daemon, and the one after that, however little those lived.
//
// FAULT: A23
// FEATURES: R49, R90
func TestDedupKnowsManyKeys(t *testing.T) {
	const keys = 600
	var first Dedup
	var marks [][]byte
	for n := range keys {
		marks = append(marks, first.Remember(fmt.Sprint("client:", n), once))
	}
	state, err := first.State()
	if err != nil {
		t.Fatal(err)
	}
	var second, third Dedup
	for _, mark := range marks {
		second.Replay(mark, once.Cursor)
	}
	if err := third.Resume(state); err != nil {
		t.Fatal(err)
	}
	for name, d := range map[string]*Dedup{"first": &first, "second": &second, "third": &third} {
		for n := range keys {
			id := fmt.Sprint("client:", n)
			if _, was, _ := d.Before(id); !was {
				t.Fatalf("%s: key %d is typed again", name, n)
			}
			d.Remember(id, once)
		}
	}
}

// A line of which the note says that it was only marked was never typed.
func TestDedupOfLines(t *testing.T) {
	var d Dedup
	if d.NeverTyped("a-job") {
		t.Error("there is no note")
	}
	d.SetUnfinished(LineMarked("a-job", 3))
	if !d.NeverTyped("a-job") || d.NeverTyped("another") || d.NeverTyped("") {
		t.Error("it was only marked")
	}
	if _, was, _ := d.Before("a-job"); was {
		t.Error("a line's id is none of input")
	}
	d.SetUnfinished(LineTyping("a-job", 3))
	if d.NeverTyped("a-job") {
		t.Error("it may have been typed")
	}
	for i := range 2 * maxLines {
		d.RememberLine(fmt.Sprint(i))
	}
	if d.RememberLine(""); len(d.Lines()) != maxLines || d.HasLine("0") || !d.HasLine(fmt.Sprint(2*maxLines-1)) {
		t.Errorf("%v", d.Lines())
	}
}
