//go:build unix

package bench

import (
	"context"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestDialogues checks that the library completes each dialogue of the bench.
// FEATURES: R51, R53, R87
func TestDialogues(t *testing.T) {
	tier.Full(t)
	b := expectBench{dir: t.TempDir()}
	for _, d := range dialogues() {
		t.Run(strings.ReplaceAll(d.name, " ", "_"), func(t *testing.T) {
			for _, need := range d.needs {
				tier.Need(t, need)
			}
			o, err := b.runDialogue(t.Context(), &d, library{})
			if err != nil || o.failure != "" {
				t.Errorf("%v %s", err, o.failure)
			}
		})
	}
}

// TestDialoguesAreChecked checks that errors in a dialogue are noticed, for every contender.
// FEATURES: R51
func TestDialoguesAreChecked(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b := expectBench{dir: t.TempDir()}
	var r rivalsReport
	all, err := b.contenders(ctx, &r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		for _, c := range all {
			if err := c.holder.close(); err != nil {
				t.Error(c.name, err)
			}
		}
	}()
	if len(r.Missing) > 0 {
		t.Skip(r.Missing)
	}
	for _, d := range []dialogue{
		{name: "it ends first", argv: []string{"sh", "-c", "echo other"}, steps: []turn{expectText("this")}},
		{name: "another status", argv: []string{"sh", "-c", "echo $'{}[]\\\"; exit 3"}, steps: []turn{expectText(`{}[]"`)}, exit: 4},
		{name: "as it should be", argv: []string{"sh", "-c", `echo '{}[]$"\'; exit 4`}, steps: []turn{expectText(`{}[]$"\`)}, exit: 4},
	} {
		for _, c := range all {
			o, err := b.runDialogue(ctx, &d, c.holder)
			if err != nil || (o.failure == "") != (d.exit == 4 && d.name == "as it should be") {
				t.Errorf("%s by %s: %q, %v", d.name, c.name, o.failure, err)
			}
		}
	}
	if peakRSS() == 0 {
		t.Error("no peak")
	}
}
