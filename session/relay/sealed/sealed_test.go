package sealed

import (
	"bytes"
	"crypto/rand"
	"errors"
	"slices"
	"testing"
)

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // it does not fail
	return b
}

func ends(t *testing.T, key []byte, room string) (host, page *Channel) {
	t.Helper()
	a, b := random(SaltSize), random(SaltSize)
	host, err := Host(key, room, a, b)
	if err != nil {
		t.Fatal(err)
	}
	page, err = Page(key, room, a, b)
	if err != nil {
		t.Fatal(err)
	}
	return host, page
}

// TestOnceAndInOrder checks that one end opens what the other sealed, once and in order, and rejects any other message.
//
// FEATURES: R111
func TestOnceAndInOrder(t *testing.T) {
	key := random(KeySize)
	host, page := ends(t, key, "room")
	var sent [][]byte
	for _, text := range []string{"one", "two", "", "three"} {
		sent = append(sent, host.Seal(nil, []byte(text)))
	}
	if bytes.Contains(bytes.Join(sent, nil), []byte("one")) {
		t.Error("it is sent in clear")
	}
	refused := func(what string, c *Channel, b []byte) {
		t.Helper()
		if got, err := c.Open(slices.Clone(b)); !errors.Is(err, ErrMessage) {
			t.Errorf("%s: %q, %v", what, got, err)
		}
	}
	refused("the second comes first", page, sent[1])
	refused("it is sent back", host, sent[0])
	if b, err := page.Open(slices.Clone(sent[0])); err != nil || string(b) != "one" {
		t.Fatalf("%q, %v", b, err)
	}
	refused("it comes again", page, sent[0])
	refused("one is left out", page, sent[2])
	for i := range sent[1] {
		changed := slices.Clone(sent[1])
		changed[i] ^= 1
		refused("a bit is another", page, changed)
	}
	refused("it is cut", page, sent[1][:len(sent[1])-1])
	refused("it is empty", page, nil)
	if b, err := page.Open(slices.Clone(sent[1])); err != nil || string(b) != "two" {
		t.Errorf("%q, %v", b, err)
	}
	_, other := ends(t, key, "room")
	refused("it is of another connection", other, sent[0])
	a, b := random(SaltSize), random(SaltSize)
	mine, err := Host(key, "room", a, b)
	if err != nil {
		t.Fatal(err)
	}
	for what, p := range map[string]func() (*Channel, error){
		"another key":  func() (*Channel, error) { return Page(random(KeySize), "room", a, b) },
		"another room": func() (*Channel, error) { return Page(key, "elsewhere", a, b) },
		"another salt": func() (*Channel, error) { return Page(key, "room", a, random(SaltSize)) },
	} {
		c, err := p()
		if err != nil {
			t.Fatal(err)
		}
		refused(what, c, mine.Seal(nil, []byte("x")))
	}
	if _, err := Page(key[:16], "room", a, b); err == nil {
		t.Error("a short key counts")
	}
}
