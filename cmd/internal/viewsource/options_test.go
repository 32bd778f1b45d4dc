//go:build unix

package viewsource

import (
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/config"
)

// FEATURES: R76
func TestOptions(t *testing.T) {
	s := config.Default()
	w := &Options{}
	l, err := w.liveOptions(s)
	if err != nil || l.Theme != nil || l.NoHints || l.NoMouse || l.Alerts.NoInput || l.Alerts.Long != 10*time.Second || w.layout(s) != "" {
		t.Errorf("defaults: %+v %v", l, err)
	}
	s.View = config.View{Prefix: "C-a", Theme: "night", Layout: "work", Size: "largest"}
	s.Keys["zoom"] = "Z F3"
	s.Themes["night"] = map[string]string{"bar": "red"}
	s.Alerts = config.Alerts{Command: true}
	l, err = w.liveOptions(s)
	if err != nil || l.Theme.Name != "night" || l.Prefix.Code != 'a' || !l.NoHints || !l.NoMouse || !l.Alerts.NoBell || !l.Alerts.NoInput || l.Alerts.NoCommand || len(l.Keys["zoom"]) != 2 || w.layout(s) != "work" {
		t.Errorf("configured: %+v %v", l, err)
	}
	w.flags = Flags{Theme: "light", Prefix: "F12", Layout: "last"}
	if l, err = w.liveOptions(s); err != nil || l.Theme.Name != "light" || w.layout(s) != "" {
		t.Errorf("flags: %+v %v", l, err)
	}
	for _, f := range []Flags{{Theme: "none"}, {Prefix: "Nokey-x"}} {
		if _, err := (&Options{flags: f}).liveOptions(s); err == nil {
			t.Errorf("%+v is accepted", f)
		}
	}
	size := newSizeOption("largest")
	if size.first("a") != "largest" || size.first("a") != "" || newSizeOption("latest").first("a") != "" || !newSizeOption("none").ignoresSize() {
		t.Error("size policy")
	}
}
