package server

import (
	"encoding/json"
	"strings"

	nats "github.com/nats-io/nats-server/v2/server"
	client "github.com/nats-io/nats.go"

	"github.com/longterm-dev/longterm/store/fleet"
)

// jetStreamAPI is the prefix of JetStream's own API. Members may not use it: JetStream writes answers and deliveries to
// any subject with the server's rights. A member could make it write to another member's subjects.
const jetStreamAPI = "$JS.API."

// serveAPI forwards members' JetStream requests if the answers go to their own inboxes. Any server of a cluster serves
// all members that may use this API. Members of a server of an older version may not.
func (s *Server) serveAPI() error {
	sub, err := s.local.QueueSubscribe(fleet.APIPrefix("*")+".>", "api", func(m *client.Msg) {
		what, body, err := checkAPIRequest(m)
		if err != nil {
			s.cfg.Log.Warn("JetStream request of a member rejected", "subject", m.Subject, "reply", m.Reply, "err", err)
			return // the reply subject is not trusted
		}
		_ = s.local.PublishRequest(jetStreamAPI+what, m.Reply, body)
	})
	if err == nil {
		err = sub.SetPendingLimits(-1, 64<<20)
	}
	return err
}

// errForeignInbox rejects a request whose answer would go to another member.
type errForeignInbox string

func (e errForeignInbox) Error() string { return "it would write to " + string(e) }

// checkAPIRequest returns the API call and its body if JetStream would answer only to the requesting member. A
// consumer's configuration is encoded again, so that JetStream reads exactly what was checked.
func checkAPIRequest(m *client.Msg) (what string, body []byte, err error) {
	f := strings.SplitN(m.Subject, ".", 4) // lt.js.NAME.WHAT
	if len(f) != 4 {
		return "", nil, errForeignInbox(m.Subject)
	}
	inbox := fleet.InboxPrefix(f[2]) + "."
	if !strings.HasPrefix(m.Reply, inbox) {
		return "", nil, errForeignInbox(m.Reply)
	}
	if !strings.HasPrefix(f[3], "CONSUMER.CREATE.") {
		return f[3], m.Data, nil
	}
	var c nats.CreateConsumerRequest
	if err := json.Unmarshal(m.Data, &c); err != nil {
		return "", nil, err
	}
	if to := c.Config.DeliverSubject; to != "" && !strings.HasPrefix(to, inbox) {
		return "", nil, errForeignInbox(to)
	}
	body, err = json.Marshal(c)
	return f[3], body, err
}
