package registry

import "hash/maphash"

// view is what a watch has told of each host's keys, so that it tells of a block's records what has changed alone. A key
// of a host of an older version is a block of one record. What is kept of a record is a hash.
type view map[string]viewOfHost

type viewOfHost map[string]map[string]uint64 // by key and record

func (h viewOfHost) has(record string) bool {
	for _, records := range h {
		if _, ok := records[record]; ok {
			return true
		}
	}
	return false
}

var seed = maphash.MakeSeed()

// take takes what a key says now, and tells what of that is new. While a host moves a record from one block to another,
// or was begun anew, the record may be in two: it has not gone before it is in none.
func (v view) take(k *keyed, tell func(e Entry)) {
	if k.record == "" || k.bad { // a block that was spoiled is told anew by its host: until then it is as it was
		k.each(tell)
		return
	}
	keys := v[k.host]
	if keys == nil {
		keys = viewOfHost{}
		v[k.host] = keys
	}
	old, now := keys[k.record], map[string]uint64{}
	if !k.gone {
		k.each(func(e Entry) {
			sum := maphash.Bytes(seed, e.Value)
			was, known := old[e.Record]
			if now[e.Record] = sum; known && was == sum {
				return
			}
			tell(e)
		})
	}
	if keys[k.record] = now; len(now) == 0 {
		delete(keys, k.record)
	}
	for record := range old {
		if _, still := now[record]; !still && !keys.has(record) {
			tell(Entry{Host: k.host, Record: record, Gone: true, Time: k.time})
		}
	}
}
