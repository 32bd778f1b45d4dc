//go:build unix

package mcp

import (
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/longterm-dev/longterm/session/api"
)

func TestProgress_OnlyGrows(t *testing.T) {
	var p sdk.ProgressNotificationParams
	fillProgress(&p, &api.Session{}, 3*time.Second)
	if p.Progress != 3 || p.Total != 0 {
		t.Errorf("%+v", p)
	}
	at := &api.Session{Progress: &api.Progress{State: "normal", Percent: 2}}
	fillProgress(&p, at, 4*time.Second)
	if p.Progress != 4 || p.Total != 0 || p.Message != "2%, 0 bytes of output" {
		t.Errorf("percents among seconds: %+v", p)
	}
	p = sdk.ProgressNotificationParams{}
	v := &api.Session{Activity: &api.Activity{Errors: 2, Progress: &api.Progress{State: "normal", Percent: 40}}}
	fillProgress(&p, v, 4*time.Second)
	if p.Progress != 40 || p.Total != 100 || p.Message != "40%, 0 bytes of output, 2 errors" {
		t.Errorf("%+v", p)
	}
	v.Activity.Progress.Percent = 10
	fillProgress(&p, v, 5*time.Second)
	if p.Progress != 40 {
		t.Errorf("decreased: %+v", p)
	}
	fillProgress(&p, &api.Session{}, time.Hour)
	if p.Progress != 40 {
		t.Errorf("seconds among percents: %+v", p)
	}
}
