espalier completion bash | bash -n

# complete WORD...: what the shell would offer for the last word
cat > complete << 'END'
source <(espalier completion bash)
compopt() { :; }
COMP_WORDS=(espalier "$@") COMP_CWORD=$#
_espalier
printf '%s\n' "${COMPREPLY[@]}" | sort
END
touch one.json two.json

bash complete '' | grep inf

bash complete imp

bash complete generate t

bash complete info --

bash complete generate tiers --preset 6

bash complete generate tiers --preset = 3

bash complete info o

bash complete import x.xml --from s

bash complete import x.xml --output t

bash complete help g

# zsh and fish: tests/cli/shells has the real ones complete
for s in zsh fish; do espalier completion $s > script; wc -l < script | awk '{ print ($1 > 100) }'; done

espalier completion zsh | grep -F -- "--from="

espalier completion fish | grep -F -- "-l from "

# algorithms, hosts of the platform in the line, lists, and words that are settings
espalier generate random --nodes 12 -o p.json
for a in '--algo mt' '--algo flat,prune' '--root p1' '--targets p0,p1' '--op = allr' '--op=allr'; do bash complete plan p.json $a; done; bash complete run --mode f

# a host whose name the shell would run is not offered
echo '{"format": "espalier-platform/1", "model": "capacity", "nodes": [{"name": "n$(touch x)"}, {"name": "n2"}], "links": [{"from": "n2", "to": "n$(touch x)", "latency_s": 0, "bandwidth_Bps": 1}]}' > bad.json
bash complete plan bad.json --root n; ls x

espalier completion zsh | grep -A1 -m1 'local word'; espalier completion fish | grep -c -e '(__espalier_hosts)'
