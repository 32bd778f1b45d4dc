package hosts

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

// refuse answers what comes on a connection with an error, in HTTP, and closes it. The beginning of a request is
// read first: clients take an answer to nothing for a fault.
func refuse(conn net.Conn, err error) {
	defer conn.Close()
	var e *api.Error
	if !errors.As(err, &e) {
		e = api.Errorf(api.CodeUnavailable, "%v", err)
	}
	body, err := json.Marshal(e)
	if err != nil {
		return
	}
	_ = conn.SetDeadline(time.Now().Add(refuseTime))
	buf := make([]byte, 64<<10)
	if _, err := conn.Read(buf); err != nil {
		return
	}
	_, err = fmt.Fprintf(conn, "HTTP/1.1 %d Refused\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		e.GetStatus(), len(body), body)
	for err == nil { // what is not read would cut the answer off
		_, err = conn.Read(buf)
	}
}

// refuseTime bounds the whole of it.
const refuseTime = 5 * time.Second

// away says that nothing was done, and that asking again makes sense.
func away(t Target, why string) *api.Error {
	e := api.Errorf(api.CodeUnavailable, "%s cannot be reached at the moment: %s", t, why).
		WithHint("it is tried again by itself; its sessions go on meanwhile")
	e.Retry = true
	return e
}
