package server

import (
	"encoding/json"
	"strings"

	nats "github.com/nats-io/nats-server/v2/server"
	client "github.com/nats-io/nats.go"

	"github.com/longterm-dev/longterm/store/fleet"
)

// jetStreamAPI is where JetStream itself is asked. No member may: JetStream writes its answers, and what a consumer
// delivers, wherever it is told to, with the rights of the server. A member that has it write into another's subjects
// would write there itself.
const jetStreamAPI = "$JS.API."

// serveAPI passes on what members ask of JetStream, if what it says goes to their own inboxes. Any server of a cluster
// does so for all members that may ask in this way: those of an older server may not.
func (s *Server) serveAPI() error {
	sub, err := s.local.QueueSubscribe(fleet.APIOf("*")+".>", "api", func(m *client.Msg) {
		what, body, err := checkAsked(m)
		if err != nil {
			s.cfg.Log.Warn("what a member asked of JetStream was refused", "subject", m.Subject, "reply", m.Reply, "err", err)
			return // there is nowhere to say so
		}
		_ = s.local.PublishRequest(jetStreamAPI+what, m.Reply, body)
	})
	if err == nil {
		err = sub.SetPendingLimits(-1, 64<<20)
	}
	return err
}

// errElsewhere says that an answer was to go to somebody else than who asks.
type errElsewhere string

func (e errElsewhere) Error() string { return "it would write to " + string(e) }

// checkAsked is what a member asks of JetStream, once it is known that it is told to write to that member alone. A
// consumer is told of anew, so that JetStream reads what was checked.
func checkAsked(m *client.Msg) (what string, body []byte, err error) {
	f := strings.SplitN(m.Subject, ".", 4) // lt.js.NAME.WHAT
	if len(f) != 4 {
		return "", nil, errElsewhere(m.Subject)
	}
	inbox := fleet.InboxOf(f[2]) + "."
	if !strings.HasPrefix(m.Reply, inbox) {
		return "", nil, errElsewhere(m.Reply)
	}
	if !strings.HasPrefix(f[3], "CONSUMER.CREATE.") {
		return f[3], m.Data, nil
	}
	var c nats.CreateConsumerRequest
	if err := json.Unmarshal(m.Data, &c); err != nil {
		return "", nil, err
	}
	if to := c.Config.DeliverSubject; to != "" && !strings.HasPrefix(to, inbox) {
		return "", nil, errElsewhere(to)
	}
	body, err = json.Marshal(c)
	return f[3], body, err
}
