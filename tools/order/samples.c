/* What check_order must find, marked on its line, and what it must let pass. */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#define NEW(a, type) ((type *)take(a, sizeof(type)))
#define EQUAL(a, b)  equal((a), (b))

struct rng {
    int state;
    int *table;
};
struct pair {
    int a, b;
};
struct box {
    struct rng rng;
    struct rng *far;
    struct pair pair;
    int n, *items, (*pick)(struct box *);
};
struct bag {
    struct rng *rng;
};

int draw(struct rng *rng);
int peek(const struct rng *rng);
int look(struct rng *rng) __attribute__((pure));
void *take(struct rng *arena, size_t size);
int use(struct box *box);
int view(const struct box *box);
int draw_bag(struct bag bag);
int draw_at(const struct bag *bag);
struct rng *of(struct box *box);
int both(int a, int b);
void equal(int a, int b);
int fill(int *values, int n);

static struct rng common;
static int calls;

static int draw_common(void)
{
    return draw(&common);
}

static int later(void);

static int count(void)
{
    return later() + 1;
}

static int later(void)
{
    static int inner;
    inner++;
    return ++calls;
}

static int hidden(void)
{
    static int turn;
    return turn++;
}

void open_arguments(struct rng *r, struct box *box, struct bag bag, int n)
{
    struct rng own = {0};
    both(draw(r), draw(r));                                     /* open */
    both(draw(r), peek(r));                                     /* open */
    both(draw(&own), own.state);                                /* open */
    both(draw(&own), 1 + (n ? draw(&own) : 2));                 /* open */
    both(draw(&box->rng), use(box));                            /* open */
    both(draw(&box->rng), view(box));                           /* open */
    both(draw(&box->rng), box->rng.state);                      /* open */
    both(draw(box->far), *box->far->table);                     /* open */
    both(draw(of(box)), box->n);                                /* open */
    both(draw_bag(bag), draw(bag.rng));                         /* open */
    both(draw_at(&(struct bag){.rng = r}), draw(r));            /* open */
    both(draw_bag((struct bag){r}), draw_bag((struct bag){r})); /* open */
    box->pick(use(box) ? box : NULL);                           /* open */
    printf("%d %d\n", draw(r), draw(r));                        /* open */
    printf("%d %d\n", scanf("%d", &n), n);                      /* open */
    EQUAL(draw(r), draw(r));                                    /* open */
}

void open_operands(struct rng *r, struct box *box, int n, int *v)
{
    n = draw(r) - draw(r);              /* open */
    n = (draw(r) < 3) == (peek(r) > 2); /* open */
    n = use(box) + box->n;              /* open */
    n += fill(&n, 1);                   /* open */
    v[n] = fill(&n, 1);                 /* open */
    box->items[0] = use(box);           /* open */
    v[draw(r)] = draw(r);               /* open */
    (&v[draw(r)])[draw(r)] = 0;         /* open */
    v[n++] = n;                         /* open */
    both(n++, n);                       /* open */
    both(n = 2, n);                     /* open */
    both(v[0]++, v[n]);                 /* open */
    n = ({ draw(r); }) + draw(r);       /* open */
    n = draw(r)                         /* open */
        + (n && draw(r));
}

int open_initial_values(struct rng *r)
{
    struct pair p = {draw(r), draw(r)};                     /* open */
    struct pair q = {.a = draw(r), .b = peek(r)};           /* open */
    struct pair s[2] = {{draw(r), 0}, {draw(r), 0}};        /* open */
    int *x[] = {NEW(r, int), NEW(r, int)};                  /* open */
    use(&(struct box){.n = draw(r), .pair = {draw(r), 0}}); /* open */
    return p.a + q.a + s[0].a + *x[0];
}

int open_globals(void)
{
    both(draw_common(), draw_common()); /* open */
    both(count(), calls);               /* open */
    both(count(), count());             /* open */
    return hidden() * 2 + hidden();     /* open */
}

void open_unnamed(atomic_int *a, int kinds, ...)
{
    va_list args;
    va_start(args, kinds);
    both(va_arg(args, int), va_arg(args, int));    /* open */
    both(atomic_fetch_add(a, 1), atomic_load(a));  /* open */
    both(__atomic_fetch_add(&kinds, 1, 0), kinds); /* open */
    both(va_arg(args, int), atomic_load(a));
    both(atomic_load(a), atomic_load(a) + kinds);
    va_end(args);
}

void known_order(struct rng *r, struct rng *other, struct box *box, struct bag bag, int n,
                 int *v)
{
    int a = draw(r), b = draw(r);
    n = draw(r) && draw(r);
    n = draw(r) || (draw(r), draw(r));
    n = draw(r) ? draw(r) : draw(r);
    both(draw(r), draw(other));
    both(peek(r), peek(r));
    both(look(r), look(r));
    both(draw(r), r != other);
    both(draw(r), sizeof *r);
    both(draw(&box->rng), box->n);
    both(draw(box->far), box->n);
    both(draw(&box->rng), draw(box->far));
    both(draw_bag(bag), 1);
    draw(of(box));
    use((use(box), box));
    both(draw_common(), calls);
    box->n = use(box);
    box->items[box->n++] = a + b;
    box->pair.a = box->pair.b = 0;
    box->items[0] = box->items[1] = 0;
    box->pick(box);
    n = fill(&n, 1);
    v[n] = fill(v, n);
    v[n] += v[n + 1];
    *v++ = *r->table;
    snprintf((char *)v, 4, "%d", n);
    printf("%s %d %d\n", (char *)v, *v, peek(r));
    struct pair p = {n, n}, q = {.a = draw(r), .b = peek(other)};
    EQUAL(p.a, q.b);
}
