package io.delayqueue.clinic;

import java.util.List;
import java.util.Optional;

import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.data.repository.Repository;

/** As in Spring's sample: no module of Spring Data is named. */
interface Vets extends Repository<Vet, Long> {

    @Cacheable("vets")
    List<Vet> findByName(String name);

    /** Reads past the cache. */
    long countByName(String name);

    Optional<Vet> findById(Long id);

    long count();

    @CacheEvict(cacheNames = "vets", allEntries = true)
    Vet save(Vet vet);

}
