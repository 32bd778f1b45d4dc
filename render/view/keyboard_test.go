package view

import (
	"testing"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/events"
	"github.com/longterm-dev/longterm/vterm/input"
)

// carry sends keys as the terminal reports them in full.
func (b *bench) carry(keys ...input.Key) {
	for _, k := range keys {
		b.send(tcell.NewEventKey(tcell.KeyRune, events.Carry(k), 0))
	}
}

// TestKeys_WorkOnOtherLayouts checks that the prefix and the keys after it work on a keyboard of another script: by the
// reported base layout key, or by the letter.
//
// FAULT: H9
func TestKeys_WorkOnOtherLayouts(t *testing.T) {
	b := newBench(t, 80, 24, Options{LiveOptions: LiveOptions{Prefix: input.Key{Code: 'b', Mods: input.Ctrl}}})
	b.list(running("a"))
	b.carry(input.Key{Code: 'и', Mods: input.Ctrl, Base: 'b'}, input.Key{Code: 'я', Text: "я"}) // z
	if !b.m.Zoomed {
		t.Error("not zoomed")
	}
	b.carry(input.Key{Code: 'и', Mods: input.Ctrl})
	b.keys("я")
	if b.m.Zoomed {
		t.Error("zoomed still")
	}
	b.keys("я") // text is the session's
	if in := b.streams["a"].input(t); in.Key == nil || in.Key.Text != "я" {
		t.Errorf("%+v", in.Key)
	}
	b.streams["a"].none(t)
}

// TestKeys_ReportEvents_WhenTheProgramAsks checks that a release follows the key that the session got, and no other,
// and that modifiers alone do not disturb a command.
//
// FAULT: H8
func TestKeys_ReportEvents_WhenTheProgramAsks(t *testing.T) {
	b := newBench(t, 80, 24, Options{})
	b.list(running("a"), running("b"))
	b.print("b", "\x1b[>11u") // disambiguate, events, all keys
	up := func(k input.Key) input.Key { k.Action = input.KeyRelease; return k }
	x, shift, prefix := input.Key{Code: 'x', Text: "x"}, input.Key{Code: input.KeyLeftShift}, input.Key{Code: ' ', Mods: input.Ctrl}
	b.carry(up(x), x, up(x), up(x), prefix, up(prefix), shift, up(shift), input.Key{Code: '1', Text: "1"}, up(input.Key{Code: '1'}))
	for _, want := range []input.Key{x, up(x)} {
		if in := b.streams["b"].input(t); in.Key == nil || *in.Key != want {
			t.Errorf("%+v, want %+v", in.Key, want)
		}
	}
	b.streams["b"].none(t)
	if b.m.Focus != "a" {
		t.Errorf("the focus is on %s", b.m.Focus)
	}
	b.carry(input.Key{Code: input.KeyKP0 + 7, Text: "7"})
	if in := b.streams["a"].input(t); in.Key == nil || in.Key.Code != input.KeyKP0+7 {
		t.Errorf("%+v", in.Key)
	}
}
