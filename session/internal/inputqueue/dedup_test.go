package inputqueue

import (
	"fmt"
	"testing"

	"github.com/longterm-dev/longterm/session/respond"
)

// typedOnce is the result of the tests' input.
var typedOnce = TypeResult{Cursor: 7, Echo: respond.EchoOff}

// TestDedupKnowsInput finds input by id: at once, from the journal's mark, from the file, and from the ring's note.
//
// FAULT: A23
// FEATURES: R90
func TestDedupKnowsInput(t *testing.T) {
	var first Dedup
	mark := first.Remember("an-id", typedOnce)
	state, err := first.State()
	if err != nil || len(mark) == 0 || mark[0] != byte(MarkID) {
		t.Fatalf("mark %q, %v", mark, err)
	}
	for name, from := range map[string]func(d *Dedup){
		"remembered": func(d *Dedup) { d.Remember("an-id", typedOnce) },
		"journal":    func(d *Dedup) { d.Replay(mark, typedOnce.Cursor) },
		"file": func(d *Dedup) {
			if err := d.Restore(state); err != nil {
				t.Error(err)
			}
		},
		"ring": func(d *Dedup) { d.SetUnfinished(InputNote("an-id", typedOnce)) },
	} {
		var d Dedup
		if _, was, _ := d.Lookup("an-id"); was {
			t.Errorf("%s: known before", name)
		}
		from(&d)
		got, was, again := d.Lookup("an-id")
		if !was || got != typedOnce || (name == "ring") != (len(again) > 0) {
			t.Errorf("%s: %+v, %v, mark %q", name, got, was, again)
		}
		if got, was, again = d.Lookup("an-id"); !was || got != typedOnce || len(again) > 0 {
			t.Errorf("%s, second lookup: %+v, %v, mark %q", name, got, was, again)
		}
		if _, was, _ := d.Lookup("another"); was {
			t.Errorf("%s: knows another id", name)
		}
	}
}

func TestDedupState(t *testing.T) {
	var d Dedup
	if b, err := d.State(); b != nil || err != nil {
		t.Errorf("state without input: %q, %v", b, err)
	}
	if d.Remember("", typedOnce) != nil {
		t.Error("got a mark for input without an id")
	}
	for i := range 2 * maxInputs {
		d.Remember(fmt.Sprint(i), typedOnce)
	}
	if _, was, _ := d.Lookup("0"); was || len(d.inputs) != maxInputs {
		t.Errorf("got %d inputs", len(d.inputs))
	}
	d.MarkSaved()
	if b, _ := d.State(); b != nil {
		t.Error("saved state is saved again")
	}
	d.Remember("more", typedOnce)
	if b, _ := d.State(); b == nil {
		t.Error("new input is not saved")
	}
	if d.Restore([]byte("{")) == nil {
		t.Error("a damaged file is no error")
	}
}

// TestDedup_NumberedInput checks that of a numbering client the newest input is known, and all before it, whatever
// other clients type, also after a restart. Ids of other clients are independent.
//
// FEATURES: R90, R94
func TestDedup_NumberedInput(t *testing.T) {
	const client, lower = "01234567-89ab-cdef-0123-456789abcdef", "build"
	var d Dedup
	var marks [][]byte
	for n := range 100 {
		if mark := d.Remember(fmt.Sprint(client, ".", n), typedOnce); len(mark) > 0 {
			marks = append(marks, mark)
		}
	}
	d.Remember(lower+".7", typedOnce)
	for i := range maxInputs - 1 {
		d.Remember(fmt.Sprint("other", i), TypeResult{Digest: 5})
	}
	check := func(name string, d *Dedup) {
		t.Helper()
		for id, want := range map[string]bool{
			client + ".0": true, client + ".98": true, client + ".99": true, client + ".100": false, client + ".x": false, client: false,
			lower + ".6": false,
		} {
			if typed, was, mark := d.Lookup(id); was != want || len(mark) > 0 || !typed.Matches(0) {
				t.Errorf("%s: %s: %+v, %v", name, id, typed, was)
			}
		}
		if typed, was, _ := d.Lookup(client + ".3"); !was || typed.Matches(12345) {
			t.Errorf("%s: other input under an earlier number: %+v, %v", name, typed, was)
		}
	}
	check("remembered", &d)
	if _, was, _ := d.Lookup(lower + ".7"); !was {
		t.Error("a client's input evicted another's")
	}
	state, err := d.State()
	if err != nil {
		t.Fatal(err)
	}
	var file, journal Dedup
	if err := file.Restore(state); err != nil {
		t.Fatal(err)
	}
	check("file", &file)
	for _, mark := range append(marks, marks...) { // the file may have them too
		journal.Replay(mark, typedOnce.Cursor)
	}
	check("journal", &journal)
	for i := range 2 * maxClients {
		d.Remember(fmt.Sprintf("%s%03d.0", client[:keyLen-3], i), typedOnce)
	}
	if _, was, _ := d.Lookup(client + ".99"); was || len(d.inputs) != maxInputs+maxClients {
		t.Errorf("of %d clients %d inputs are remembered", 2*maxClients, len(d.inputs))
	}
}

// TestDedupKnowsManyKeys checks that all input that a client repeats after a break is known: some seconds of keys. The
// next daemon and the one after it know it too, however short their lives.
//
// FAULT: A23
// FEATURES: R49, R90
func TestDedupKnowsManyKeys(t *testing.T) {
	const keys = 600
	var first Dedup
	var marks [][]byte
	for n := range keys {
		marks = append(marks, first.Remember(fmt.Sprint("client:", n), typedOnce))
	}
	state, err := first.State()
	if err != nil {
		t.Fatal(err)
	}
	var second, third Dedup
	for _, mark := range marks {
		second.Replay(mark, typedOnce.Cursor)
	}
	if err := third.Restore(state); err != nil {
		t.Fatal(err)
	}
	for name, d := range map[string]*Dedup{"first": &first, "second": &second, "third": &third} {
		for n := range keys {
			id := fmt.Sprint("client:", n)
			if _, was, _ := d.Lookup(id); !was {
				t.Fatalf("%s: key %d is unknown", name, n)
			}
			d.Remember(id, typedOnce)
		}
	}
}

// TestDedup_Lines checks that a line which is only marked according to the note was never typed.
func TestDedup_Lines(t *testing.T) {
	var d Dedup
	if d.WasNeverTyped("a-job") {
		t.Error("never typed, without a note")
	}
	d.SetUnfinished(LineMarked("a-job", 3))
	if !d.WasNeverTyped("a-job") || d.WasNeverTyped("another") || d.WasNeverTyped("") {
		t.Error("typed, though only marked")
	}
	if _, was, _ := d.Lookup("a-job"); was {
		t.Error("the id of a line is an id of input")
	}
	d.SetUnfinished(LineTyping("a-job", 3))
	if d.WasNeverTyped("a-job") {
		t.Error("never typed, though it was being typed")
	}
	for i := range 2 * maxLines {
		d.RememberLine(fmt.Sprint(i))
	}
	if d.RememberLine(""); len(d.Lines()) != maxLines || d.HasLine("0") || !d.HasLine(fmt.Sprint(2*maxLines-1)) {
		t.Errorf("%v", d.Lines())
	}
}
