//go:build unix

package mcp

import (
	"context"
	"fmt"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/longterm-dev/longterm/session/api"
)

// progressEvery is the interval of progress notifications.
const progressEvery = time.Second

// progress sends a session's progress to the client of a call, if it sent a progress token, until the returned function
// is called.
func (s *Server) progress(ctx context.Context, session string) (stop func()) {
	d := currentCallOf(ctx)
	if d.req == nil || d.req.Params.GetProgressToken() == nil || session == "" {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.sendProgress(ctx, d.req, session)
	}()
	return func() {
		cancel()
		<-done
	}
}

// sendProgress sends progress notifications until ctx ends.
func (s *Server) sendProgress(ctx context.Context, req *sdk.CallToolRequest, session string) {
	p := sdk.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken()}
	for begun, t := time.Now(), time.NewTicker(progressEvery); ; {
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-t.C:
		}
		v, err := s.client(ctx).Session(session).Info(ctx)
		if err != nil {
			continue // the call itself reports the error
		}
		fillProgress(&p, &v, time.Since(begun))
		if req.Session.NotifyProgress(ctx, &p) != nil {
			return
		}
	}
}

// fillProgress fills in a session's progress: in percent if its program reported it from the first time on, otherwise in
// seconds, with the percentage in the text. Progress never decreases.
func fillProgress(p *sdk.ProgressNotificationParams, v *api.Session, waited time.Duration) {
	p.Message = fmt.Sprintf("%d bytes of output", v.Output.End)
	how := v.Progress
	if v.Activity != nil {
		if how == nil {
			how = v.Activity.Progress
		}
		if n := v.Activity.Errors; n > 0 {
			p.Message += fmt.Sprintf(", %d errors", n)
		}
	}
	told := p.Progress > 0 && p.Total == 0 // reported in seconds before, which must not be read as percents
	if how != nil && how.State != "indeterminate" {
		p.Message = fmt.Sprintf("%d%%, %s", how.Percent, p.Message)
	}
	if how != nil && how.State != "indeterminate" && !told {
		p.Total = 100
		p.Progress = max(p.Progress, float64(how.Percent))
		return
	}
	if p.Total == 0 {
		p.Progress = max(p.Progress, waited.Seconds())
	}
}
