package notify

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// FEATURES: R82
func TestBellEvent(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	var drawn string
	s := Sender{Terminals: func(b []byte) int { drawn += string(b); return 1 }}
	how := Options{Bell: true, Desktop: true, Command: []string{"sh", "-c", `printf '%s|' "$LONGTERM_BELL" "$LONGTERM_NAME" "$LONGTERM_TITLE" "$LONGTERM_TEXT" >` + out}}
	r := BellEvent{Session: "id", Name: "work", Title: "build\x1b[2J", Time: time.Unix(1, 0)}
	if err := s.SendBell(t.Context(), &how, &r); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(out); err != nil || string(b) != "1|work|build\x1b[2J|! work rang the bell: build [2J|" {
		t.Errorf("the command wrote %q, %v", b, err)
	}
	if want := "\x1b]9;! work rang the bell: build [2J\x1b\\"; drawn != want {
		t.Errorf("the terminal got %q, want %q", drawn, want)
	}
}
