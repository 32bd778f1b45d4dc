//go:build unix

package httpapi

import (
	"context"
	"errors"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/audit"
)

// auditQuery selects audit records.
type auditQuery struct {
	Session string `query:"session" doc:"id, name, or a unique prefix of either; also of one that was removed"`
	Agent   string `query:"agent" doc:"requested by the agent with this label"`
	Verdict string `query:"verdict" doc:"only this verdict: allow, ask, deny, approved or rejected"`
	Kind    string `query:"kind" doc:"only this kind, for example execution"`
	Since   string `query:"since" doc:"at that time or later: a time, or -2h"`
	After   uint64 `query:"after" doc:"only later numbers"`
	Limit   int    `query:"limit" minimum:"0" maximum:"100000" doc:"maximum number, newest first; default 100"`
	Await   int64  `query:"await_ms" minimum:"0" maximum:"60000" doc:"wait up to this time for a record if none matches"`
}

func (s *Server) listAudit(ctx context.Context, in *auditQuery) ([]audit.Record, error) {
	q := audit.Query{
		After: in.After, Session: in.Session, Agent: in.Agent, Verdict: in.Verdict, Kind: audit.Kind(in.Kind), Limit: in.Limit,
	}
	if q.Limit == 0 {
		q.Limit = 100
	}
	if in.Since != "" {
		m, err := parseTimeref(in.Since, time.Now(), time.Now())
		if err != nil || m.time.IsZero() {
			return nil, api.Errorf(api.CodeInvalid, "time %q", in.Since).WithHint("give a time (15:04, 2006-01-02 15:04:05) or how long ago (-2h)")
		}
		q.Since = m.time
	}
	if in.Session != "" {
		e, err := s.reg.Resolve(in.Session)
		var ambiguous *api.Error
		switch {
		case err == nil:
			q.Session = e.ID()
		case errors.As(err, &ambiguous) && ambiguous.Code == api.CodeAmbiguous:
			return nil, err
		}
	}
	log := s.daemon.Audit()
	until, cancel := context.WithTimeout(ctx, time.Duration(in.Await)*time.Millisecond)
	defer cancel()
	for {
		newest := log.Head().Seq // before reading: what is read has it
		found, err := audit.Read(log.Dir(), q)
		if err != nil || len(found) > 0 || in.Await == 0 {
			return append([]audit.Record{}, found...), err
		}
		if err := log.Await(until, max(newest, in.After)); err != nil {
			return []audit.Record{}, ctx.Err()
		}
	}
}

// auditHeads holds the chain heads that a check of the audit log compares.
type auditHeads struct {
	Head []string `query:"head,explode" doc:"NUMBER:HASH saved elsewhere; the record must match it"`
}

func (s *Server) verifyAudit(_ context.Context, in *auditHeads) (audit.Report, error) {
	var anchors []audit.Head
	for _, text := range in.Head {
		h, err := audit.ParseHead(text)
		if err != nil {
			return audit.Report{}, api.Errorf(api.CodeInvalid, "%v", err)
		}
		anchors = append(anchors, h)
	}
	log := s.daemon.Audit()
	return audit.Verify(log.Dir(), audit.Baseline{Anchors: anchors, Written: log.Head()})
}
