# a star of five hosts behind a switch: what is slow has a peer group of three at least
printf 'switch sw\na sw 100MBps\nsw a 100MBps\nb sw 100MBps\nsw b 25MBps\nc sw 100MBps\nsw c 100MBps\nd sw 50MBps\nsw d 100MBps\ne sw 100MBps\nsw e 100MBps\n' > now.txt
sed 's/ 25MBps/ 100MBps/; s/ 50MBps/ 75MBps/' now.txt > then.txt
espalier doctor now.txt

# mended alone the second gains nothing while the first holds all back
espalier doctor now.txt --root d

espalier doctor now.txt --expected then.txt --json

espalier doctor now.txt --tolerance 0.6

espalier doctor then.txt --tolerance 0.3

espalier doctor now.txt --expected missing.json

espalier doctor now.txt --root nobody
